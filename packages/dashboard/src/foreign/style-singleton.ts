import { useEffect } from "react";

/**
 * Replaces the package `react-style-singleton`, with which Radix locks the page's scrolling while a dialog is open. This module uses a constructed
 * style sheet. The package writes a style element, which the content security policy refuses.
 */
export function styleSingleton() {
  const useStyle = styleHookSingleton();
  return function Sheet({ styles, dynamic }: { readonly styles: string; readonly dynamic?: boolean }) {
    useStyle(styles, dynamic);
    return null;
  };
}

function styleHookSingleton() {
  const sheet = countedSheet();
  return (styles: string, isDynamic = false) => {
    // As in the package: a change of the styles counts only where they are dynamic.
    // biome-ignore lint/correctness/useExhaustiveDependencies: the package's own contract
    useEffect(() => {
      sheet.add(styles);
      return () => sheet.remove();
    }, [styles && isDynamic]);
  };
}

function countedSheet() {
  let users = 0;
  let adopted: CSSStyleSheet | undefined;
  return {
    add(styles: string): void {
      users += 1;
      if (users > 1) return;
      adopted = new CSSStyleSheet();
      adopted.replaceSync(styles);
      document.adoptedStyleSheets.push(adopted);
    },
    remove(): void {
      users -= 1;
      if (users > 0) return;
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== adopted);
      adopted = undefined;
    },
  };
}
