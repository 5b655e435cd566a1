-- The nine tables under the specification's column names. Tables with a composite key are stored by it (WITHOUT ROWID),
-- in the order of tpcc.Schema; those with one integer as their key have it as the rowid; HISTORY, which has no key, is
-- appended to by rowid.
CREATE TABLE item(
  i_id INTEGER PRIMARY KEY, i_im_id INTEGER NOT NULL, i_price INTEGER NOT NULL);
CREATE TABLE warehouse(
  w_id INTEGER PRIMARY KEY, w_tax INTEGER NOT NULL, w_ytd INTEGER NOT NULL);
CREATE TABLE district(
  d_w_id INTEGER NOT NULL, d_id INTEGER NOT NULL, d_tax INTEGER NOT NULL, d_ytd INTEGER NOT NULL,
  d_next_o_id INTEGER NOT NULL,
  PRIMARY KEY(d_w_id, d_id)) WITHOUT ROWID;
CREATE TABLE customer(
  c_w_id INTEGER NOT NULL, c_d_id INTEGER NOT NULL, c_id INTEGER NOT NULL, c_last INTEGER NOT NULL,
  c_since INTEGER NOT NULL, c_credit INTEGER NOT NULL, c_credit_lim INTEGER NOT NULL, c_discount INTEGER NOT NULL,
  c_balance INTEGER NOT NULL, c_ytd_payment INTEGER NOT NULL, c_payment_cnt INTEGER NOT NULL,
  c_delivery_cnt INTEGER NOT NULL,
  PRIMARY KEY(c_w_id, c_d_id, c_id)) WITHOUT ROWID;
CREATE TABLE history(
  h_c_id INTEGER NOT NULL, h_c_d_id INTEGER NOT NULL, h_c_w_id INTEGER NOT NULL, h_d_id INTEGER NOT NULL,
  h_w_id INTEGER NOT NULL, h_date INTEGER NOT NULL, h_amount INTEGER NOT NULL);
CREATE TABLE orders(
  o_w_id INTEGER NOT NULL, o_d_id INTEGER NOT NULL, o_id INTEGER NOT NULL, o_c_id INTEGER NOT NULL,
  o_entry_d INTEGER NOT NULL, o_carrier_id INTEGER, o_ol_cnt INTEGER NOT NULL, o_all_local INTEGER NOT NULL,
  PRIMARY KEY(o_w_id, o_d_id, o_id)) WITHOUT ROWID;
CREATE TABLE new_order(
  no_w_id INTEGER NOT NULL, no_d_id INTEGER NOT NULL, no_o_id INTEGER NOT NULL,
  PRIMARY KEY(no_w_id, no_d_id, no_o_id)) WITHOUT ROWID;
CREATE TABLE order_line(
  ol_w_id INTEGER NOT NULL, ol_d_id INTEGER NOT NULL, ol_o_id INTEGER NOT NULL, ol_number INTEGER NOT NULL,
  ol_i_id INTEGER NOT NULL, ol_supply_w_id INTEGER NOT NULL, ol_delivery_d INTEGER, ol_quantity INTEGER NOT NULL,
  ol_amount INTEGER NOT NULL,
  PRIMARY KEY(ol_w_id, ol_d_id, ol_o_id, ol_number)) WITHOUT ROWID;
CREATE TABLE stock(
  s_w_id INTEGER NOT NULL, s_i_id INTEGER NOT NULL, s_quantity INTEGER NOT NULL, s_ytd INTEGER NOT NULL,
  s_order_cnt INTEGER NOT NULL, s_remote_cnt INTEGER NOT NULL,
  PRIMARY KEY(s_w_id, s_i_id)) WITHOUT ROWID;
