// Random questions of behaviour sources (funnel, retention, paths, …), compared with the reference
// implementation in test/oracle.
import { compareWithOracle } from '../support/compare-with-oracle.js';

compareWithOracle('behaviour');
