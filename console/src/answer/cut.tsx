// Answers that contain only the first rows of their query, and the note below what is drawn of one.
import type { Answer } from '../api/answer.js';
import style from '../charts/frame.module.css';
import { texts } from '../texts.js';

export const isCut = ({ rows, total }: Pick<Answer, 'rows' | 'total'>): boolean => rows.length < total;

export const CutNote = ({ answer: { rows, total } }: { readonly answer: Answer }) =>
  isCut({ rows, total }) ? <p className={style.note}>{texts.answer.onlyFirst(rows.length, total)}</p> : null;
