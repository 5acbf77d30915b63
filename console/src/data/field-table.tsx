// Fields of events with their types, and how many events have them.
import { percent } from '../answer/format.js';
import { dataTexts } from '../texts/data.js';
import { toData } from './address.js';
import style from './data.module.css';
import { type FieldName, SHOWN_MAX } from './names.js';
import { Share } from './share.js';

export function FieldTable({
  fields,
  open,
}: {
  readonly fields: readonly FieldName[];
  readonly open: string | undefined;
}) {
  return (
    <table className={style.table} aria-label={dataTexts.parts.properties}>
      <thead>
        <tr>
          <th scope="col">{dataTexts.property}</th>
          <th scope="col" className={style.wide}>
            {dataTexts.type}
          </th>
          <th scope="col" className={style.number}>
            {dataTexts.coverage}
          </th>
        </tr>
      </thead>
      <tbody>
        {fields.slice(0, SHOWN_MAX).map(({ name, type, coverage }) => (
          <tr key={name} data-open={name === open}>
            <th scope="row">
              <a href={toData('properties', name)} title={name} aria-current={name === open ? 'true' : undefined}>
                {name}
              </a>
            </th>
            <td className={`muted ${style.wide}`}>{type}</td>
            <td className={style.number}>
              {coverage === undefined ? (
                '–'
              ) : (
                <>
                  <Share share={coverage / 100} />
                  <span className={style.value}>{percent(coverage / 100)}</span>
                </>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
