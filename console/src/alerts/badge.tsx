// Badge of a state or of the outcome of a check.
import settings from '../settings/settings.module.css';

const LOOKS = { ok: 'ok', sent: 'ok', firing: 'failed', failing: 'attention', failed: 'attention' } as const;

export const Badge = ({ of, text }: { readonly of: keyof typeof LOOKS; readonly text: string }) => (
  <span className={settings.state} data-state={LOOKS[of]}>
    {text}
  </span>
);
