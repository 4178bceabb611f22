-- What a request over the cap costs in the other currencies of the price: JSON, from the currency to a decimal in
-- its smallest unit.
ALTER TABLE overage_prices ADD COLUMN others TEXT NOT NULL DEFAULT '{}';

DROP TRIGGER overage_price_changed;
CREATE TRIGGER overage_price_changed AFTER UPDATE ON overage_prices
WHEN NEW.unit_amount <> OLD.unit_amount OR NEW.currency <> OLD.currency OR NEW.others <> OLD.others BEGIN
  UPDATE subscriptions SET overages = overages WHERE overages = 1;
END;
