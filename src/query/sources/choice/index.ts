// The source `choice`: exposures of an experiment, or its results.
import { theForm } from '../../language.js';
import { defineSource } from '../source.js';
import { analyzeChoice } from './analyze.js';

export const choice = defineSource({
  example: 'choice KEY | results a',
  about: 'result of an experiment: conversion to a by variant, with a verdict',
  hint: theForm('choice checkout_button | results pay'),
  days: 30,
  answers: 'has results for each variant',
  modes: ['choice'],
  build: (reader, node) => {
    const key = reader.name(node.getChild('EventName'));
    return key && { key };
  },
  analyze: analyzeChoice,
});
