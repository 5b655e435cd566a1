/*
** All SQL of the transactions, one line a statement: X(name, text). Parameters stand in the order of their numbers.
** A test looks at the plan of each with EXPLAIN QUERY PLAN. INDEXED BY and CROSS JOIN pin the two plans that the
** planner would otherwise choose by statistics, so that no plan depends on ANALYZE or on what the tables hold.
**
** There is no UPDATE ... RETURNING: SQLite collects what it returns in a temporary table, and a SELECT before the
** UPDATE costs less than that: 16 % fewer instructions per transaction of the mix.
*/
#define STATEMENTS(X) \
  X(BEGIN_READ, "BEGIN") \
  X(BEGIN_WRITE, "BEGIN IMMEDIATE") \
  X(COMMIT, "COMMIT") \
  X(ROLLBACK, "ROLLBACK") \
  X(SAVEPOINT, "SAVEPOINT t") \
  X(ROLLBACK_TO, "ROLLBACK TO t") \
  X(RELEASE, "RELEASE t") \
  \
  X(WAREHOUSE_TAX, "SELECT w_tax FROM warehouse WHERE w_id=?1") \
  X(WAREHOUSE_PAY, "UPDATE warehouse SET w_ytd=w_ytd+?2 WHERE w_id=?1") \
  \
  X(DISTRICT_NEXT, "SELECT d_next_o_id FROM district WHERE d_w_id=?1 AND d_id=?2") \
  X(DISTRICT_TAX, "SELECT d_next_o_id,d_tax FROM district WHERE d_w_id=?1 AND d_id=?2") \
  X(DISTRICT_ORDER, "UPDATE district SET d_next_o_id=d_next_o_id+1 WHERE d_w_id=?1 AND d_id=?2") \
  X(DISTRICT_PAY, "UPDATE district SET d_ytd=d_ytd+?3 WHERE d_w_id=?1 AND d_id=?2") \
  \
  X(CUSTOMER_DISCOUNT, "SELECT c_discount,c_last,c_credit FROM customer WHERE c_w_id=?1 AND c_d_id=?2 AND c_id=?3") \
  X(CUSTOMER_BY_NAME, "SELECT c_id FROM customer INDEXED BY customer_name WHERE c_w_id=?1 AND c_d_id=?2 AND c_last=?3 " \
    "ORDER BY c_id") \
  X(CUSTOMER_BALANCE, "SELECT c_balance,c_last FROM customer WHERE c_w_id=?1 AND c_d_id=?2 AND c_id=?3") \
  X(CUSTOMER_ACCOUNT, "SELECT c_last,c_credit,c_since,c_credit_lim,c_discount,c_balance FROM customer " \
    "WHERE c_w_id=?1 AND c_d_id=?2 AND c_id=?3") \
  X(CUSTOMER_PAY, "UPDATE customer SET c_balance=c_balance-?4,c_ytd_payment=c_ytd_payment+?4," \
    "c_payment_cnt=c_payment_cnt+1 WHERE c_w_id=?1 AND c_d_id=?2 AND c_id=?3") \
  X(CUSTOMER_DELIVER, "UPDATE customer SET c_balance=c_balance+?4,c_delivery_cnt=c_delivery_cnt+1 " \
    "WHERE c_w_id=?1 AND c_d_id=?2 AND c_id=?3") \
  \
  X(HISTORY_INSERT, "INSERT INTO history(h_c_id,h_c_d_id,h_c_w_id,h_d_id,h_w_id,h_date,h_amount) " \
    "VALUES(?1,?2,?3,?4,?5,?6,?7)") \
  \
  X(ORDERS_INSERT, "INSERT INTO orders(o_w_id,o_d_id,o_id,o_c_id,o_entry_d,o_carrier_id,o_ol_cnt,o_all_local) " \
    "VALUES(?1,?2,?3,?4,?5,NULL,?6,?7)") \
  X(ORDERS_NEWEST, "SELECT o_id,o_entry_d,o_carrier_id FROM orders INDEXED BY orders_customer " \
    "WHERE o_w_id=?1 AND o_d_id=?2 AND o_c_id=?3 ORDER BY o_id DESC LIMIT 1") \
  X(ORDERS_CUSTOMER, "SELECT o_c_id FROM orders WHERE o_w_id=?1 AND o_d_id=?2 AND o_id=?3") \
  X(ORDERS_DELIVER, "UPDATE orders SET o_carrier_id=?4 WHERE o_w_id=?1 AND o_d_id=?2 AND o_id=?3") \
  \
  X(NEW_ORDER_INSERT, "INSERT INTO new_order(no_w_id,no_d_id,no_o_id) VALUES(?1,?2,?3)") \
  X(NEW_ORDER_OLDEST, "SELECT min(no_o_id) FROM new_order WHERE no_w_id=?1 AND no_d_id=?2") \
  X(NEW_ORDER_DELETE, "DELETE FROM new_order WHERE no_w_id=?1 AND no_d_id=?2 AND no_o_id=?3") \
  \
  X(LINE_INSERT, "INSERT INTO order_line(ol_w_id,ol_d_id,ol_o_id,ol_number,ol_i_id,ol_supply_w_id,ol_delivery_d," \
    "ol_quantity,ol_amount) VALUES(?1,?2,?3,?4,?5,?6,NULL,?7,?8)") \
  X(LINES_OF_ORDER, "SELECT ol_i_id,ol_supply_w_id,ol_quantity,ol_amount,ol_delivery_d FROM order_line " \
    "WHERE ol_w_id=?1 AND ol_d_id=?2 AND ol_o_id=?3 ORDER BY ol_number") \
  X(LINES_SUM, "SELECT sum(ol_amount) FROM order_line WHERE ol_w_id=?1 AND ol_d_id=?2 AND ol_o_id=?3") \
  X(LINES_DELIVER, "UPDATE order_line SET ol_delivery_d=?4 WHERE ol_w_id=?1 AND ol_d_id=?2 AND ol_o_id=?3") \
  \
  X(ITEM_PRICE, "SELECT i_price FROM item WHERE i_id=?1") \
  X(STOCK_QUANTITY, "SELECT s_quantity FROM stock WHERE s_w_id=?1 AND s_i_id=?2") \
  X(STOCK_ORDER, "UPDATE stock SET s_quantity=?3,s_ytd=s_ytd+?4,s_order_cnt=s_order_cnt+1,s_remote_cnt=s_remote_cnt+?5 " \
    "WHERE s_w_id=?1 AND s_i_id=?2") \
  X(STOCK_LEVEL, "SELECT count(DISTINCT ol_i_id) FROM order_line CROSS JOIN stock " \
    "WHERE ol_w_id=?1 AND ol_d_id=?2 AND ol_o_id>=?3-20 AND ol_o_id<?3 " \
    "AND s_w_id=?1 AND s_i_id=ol_i_id AND s_quantity<?4")
