import type { FastifyRequest } from "fastify";

type Asked = Pick<FastifyRequest, "url"> & {
  readonly routeOptions: {
    readonly url?: string | undefined;
    readonly schema?: { readonly hide?: boolean | undefined } | undefined;
  };
};

/**
 * Returns the path of a request in the form in which it may be logged: without the query. A page is logged only by its pattern, since its
 * path may hold the secret of a link.
 */
export function loggedPath({ url, routeOptions }: Asked): string {
  if (routeOptions.schema?.hide === true && routeOptions.url !== undefined) return routeOptions.url;
  return pathOf(url);
}

export function pathOf(url: string): string {
  return url.split("?")[0] ?? "";
}
