// Random questions of sources whose answer is rows (events, users, sessions, …), compared with the
// reference implementation in test/oracle.
import { compareWithOracle } from '../support/compare-with-oracle.js';

compareWithOracle('rows');
