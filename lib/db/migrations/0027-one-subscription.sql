-- Stripe limits customers to one subscription. Whoever has two is found by a comparison with Stripe.
DROP TABLE duplicate_subscriptions;
