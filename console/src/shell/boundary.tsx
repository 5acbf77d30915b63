// Error boundary: shows a message in place of a part of the page whose drawing failed (a screen,
// an answer, or a card of a dashboard); the other parts stay.
import { Component, type ReactNode } from 'react';
import { texts } from '../texts.js';
import style from './plain-page.module.css';

interface Props {
  /** What is drawn; the failure of one says nothing about another. */
  readonly of: unknown;
  readonly part: keyof typeof texts.failedParts;
  /** Around the message, where it needs a place of its own. */
  readonly frame?: (message: ReactNode) => ReactNode;
  readonly children: ReactNode;
}

interface State {
  readonly hasFailed: boolean;
  /** A file of the console is missing: no connection, or an update of the service. */
  readonly isUnloaded?: boolean;
}

const unloaded = new WeakSet<object>();
addEventListener('vite:preloadError', ({ payload }) => unloaded.add(payload));

export class Boundary extends Component<Props, State> {
  override state: State = { hasFailed: false };

  static getDerivedStateFromError(error: object): State {
    return { hasFailed: true, isUnloaded: unloaded.has(error) };
  }

  override componentDidUpdate(before: Props): void {
    if (this.state.hasFailed && before.of !== this.props.of) this.setState({ hasFailed: false });
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    const isScreen = this.props.part === 'screen';
    const title = texts.failedParts[this.props.part];
    const message = (
      <div className={isScreen ? style.page : style.part} role="alert">
        {isScreen ? <h1>{title}</h1> : <p className={style.title}>{title}</p>}
        <p className="muted">{this.state.isUnloaded ? texts.fileMissing : texts.notDrawn}</p>
        <p>
          <button
            type="button"
            className={isScreen ? 'button' : 'button small'}
            // A module that failed once fails until the page is loaded again.
            onClick={() => (this.state.isUnloaded ? location.reload() : this.setState({ hasFailed: false }))}
          >
            {texts.tryAgain}
          </button>
        </p>
      </div>
    );
    return this.props.frame?.(message) ?? message;
  }
}
