-- The two secondary indexes that the transactions seek by. Load drops them first and makes them last.
CREATE INDEX customer_name ON customer(c_w_id, c_d_id, c_last, c_id);
CREATE INDEX orders_customer ON orders(o_w_id, o_d_id, o_c_id, o_id);
