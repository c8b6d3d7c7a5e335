import { Outlet, useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import "./Shell.css";
import { texts } from "../texts/texts.ts";
import { TopBar } from "./TopBar.tsx";

/** The frame of every page: the bar on top, and a link with which keyboard users skip it. */
export function Shell() {
  const main = useRef<HTMLElement>(null);
  useFocusOnNavigation(main);
  return (
    <>
      <a className="skip-link" href="#content">
        {texts.shell.skip}
      </a>
      <TopBar />
      <main id="content" ref={main} tabIndex={-1} className="content stack">
        <Outlet />
      </main>
    </>
  );
}

/** Moves the focus to the beginning of a new page, for people who use a keyboard or a screen reader. A changed filter does not make a new page. */
function useFocusOnNavigation(main: { readonly current: HTMLElement | null }): void {
  const { pathname } = useLocation();
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    main.current?.focus({ preventScroll: true });
  }, [pathname, main]);
}
