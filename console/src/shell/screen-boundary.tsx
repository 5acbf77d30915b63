// Shows a message in place of a screen whose drawing failed; the other screens stay reachable.
import { Component, type ReactNode } from 'react';
import { texts } from '../texts.js';
import style from './plain-page.module.css';

interface Props {
  /** The screen and its item; the failure of one says nothing about another. */
  readonly of: string;
  readonly children: ReactNode;
}

interface State {
  readonly hasFailed: boolean;
}

export class ScreenBoundary extends Component<Props, State> {
  override state: State = { hasFailed: false };

  static getDerivedStateFromError(): State {
    return { hasFailed: true };
  }

  override componentDidUpdate(before: Props): void {
    if (this.state.hasFailed && before.of !== this.props.of) this.setState({ hasFailed: false });
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <div className={style.page} role="alert">
        <h1>{texts.failedScreen.title}</h1>
        <p className="muted">{texts.failedScreen.text}</p>
        <p>
          <button type="button" onClick={() => this.setState({ hasFailed: false })}>
            {texts.failedScreen.again}
          </button>
        </p>
      </div>
    );
  }
}
