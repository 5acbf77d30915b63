// Paths of an answer as a diagram: the steps of each position, merged.
import type { Answer } from '../api/answer.js';
import { Sankey } from '../charts/sankey.js';
import { texts } from '../texts.js';
import { toFlow } from './flow.js';

interface Props {
  readonly answer: Answer;
  readonly anchor?: ((event: string) => void) | undefined;
}

export const PathsDrawing = ({ answer, anchor }: Props) => (
  <Sankey flow={toFlow(answer, texts.charts.rest)} anchor={anchor} />
);
