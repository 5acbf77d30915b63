// Colours of a query by the nodes of its grammar.
import { HighlightStyle, LRLanguage, syntaxHighlighting } from '@codemirror/language';
import { styleTags, tags } from '@lezer/highlight';
import { parser } from '../../../grammar/parser.js';

const language = LRLanguage.define({
  parser: parser.configure({
    props: [
      styleTags({
        Keyword: tags.keyword,
        AggregateName: tags.function(tags.name),
        FunctionName: tags.function(tags.name),
        'EventName/Word EventName/String MetricName/Word MetricName/String': tags.typeName,
        'Field/Word Field/FieldPrefix Field/String': tags.propertyName,
        String: tags.string,
        'Number Duration Moment': tags.number,
        'CompareOperator Arrow Star Divide Minus Plus': tags.operator,
        '"|"': tags.separator,
        Comment: tags.comment,
      }),
    ],
  }),
  languageData: { commentTokens: { line: '#' }, closeBrackets: { brackets: ['(', '[', '"'] } },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: tags.function(tags.name), color: 'var(--accent)', fontWeight: '600' },
  { tag: tags.typeName, fontWeight: '600' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.number, color: 'var(--warn)' },
  { tag: [tags.operator, tags.separator, tags.comment], color: 'var(--muted)' },
  // A line may break behind a hyphen, also that of an arrow.
  { tag: tags.operator, whiteSpace: 'nowrap' },
]);

export const colouring = [language, syntaxHighlighting(colours)];
