import { Component, type ReactNode } from "react";

interface InsteadProps {
  /** Shown where the other cannot be. */
  readonly fallback: ReactNode;
  readonly children: ReactNode;
}

/** Around what a page can do without: a drawing whose script did not come must not take the page away, with all that is written on it. */
export class Instead extends Component<InsteadProps, { readonly hasFailed: boolean }> {
  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override state = { hasFailed: false };

  override render() {
    return this.state.hasFailed ? this.props.fallback : this.props.children;
  }
}
