-- Usable from 0025
-- As SQLite's file of this number.
ALTER TABLE overage_prices ADD COLUMN others TEXT COLLATE "C" NOT NULL DEFAULT '{}';

DROP TRIGGER overage_price_changed ON overage_prices;
CREATE TRIGGER overage_price_changed AFTER UPDATE ON overage_prices
FOR EACH ROW WHEN (
  NEW.unit_amount <> OLD.unit_amount OR NEW.currency <> OLD.currency OR NEW.others <> OLD.others
)
EXECUTE FUNCTION touch_overages();
