import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route of the site; set by {@link useRouteList}. */
    readonly routeList: RouteList
  }
}

/** Route of a site. */
export interface ListedRoute {
  readonly method: string
  /** Registered URL, with `:names`. */
  readonly url: string
}

/** Routes of a site. */
export class RouteList {
  readonly #routes: ListedRoute[] = []
  /** Patterns of URLs; made with the first question, which only unknown paths ask. */
  readonly #patterns = new Map<string, RegExp>()

  get all(): readonly ListedRoute[] {
    return this.#routes
  }

  /** Returns the methods of the routes that match a path. */
  methodsOf(path: string): string[] {
    const fitting = this.#routes.filter(({ url }) => this.#patternOf(url).test(path))
    return [...new Set(fitting.map(({ method }) => method))].sort()
  }

  add({ method, url }: ListedRoute): void {
    this.#routes.push({ method, url })
  }

  #patternOf(url: string): RegExp {
    const known = this.#patterns.get(url)
    if (known) return known
    const text = url.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/:\w+/g, '[^/]+')
    const pattern = new RegExp(`^${text}/?$`)
    this.#patterns.set(url, pattern)
    return pattern
  }
}

/** Records the routes that are added to the site later. */
export const useRouteList = (site: FastifyInstance): void => {
  const list = new RouteList()
  site.decorate('routeList', list)
  site.addHook('onRoute', ({ url, method }) => {
    for (const one of [method].flat()) list.add({ method: one, url })
  })
}
