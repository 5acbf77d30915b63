// Overlay of columns: a button for each that can be chosen, and the numbers of the one that is
// pointed at.
import type { ScaleBand } from 'd3-scale';
import { texts } from '../texts.js';
import { columnMarks, Panel } from './frame.js';
import { Marks } from './marks.js';
import type { BucketData } from './series.js';

interface Props {
  readonly data: BucketData;
  readonly x: ScaleBand<number>;
  readonly width: number;
  readonly choose: ((index: number) => void) | undefined;
  readonly pointed: number | undefined;
  readonly point: (index: number | undefined) => void;
}

export function ColumnOverlay({ data, x, width, choose, pointed, point }: Props) {
  const size = x.bandwidth();
  return (
    <>
      {choose !== undefined && width > 0 && (
        <Marks label={texts.charts.columns} marks={columnMarks(data, { x, width: size, choose })} point={point} />
      )}
      {pointed !== undefined && <Panel data={data} index={pointed} x={(x(pointed) ?? 0) + size / 2} width={width} />}
    </>
  );
}
