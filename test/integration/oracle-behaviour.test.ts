import { compareWithOracle } from '../support/compare-with-oracle.js';

compareWithOracle('behaviour');
