/** Domain applications that the scenarios share. */

/** The carrier's network of the scenarios. */
export const loopback = ['127.0.0.0/8']

/** A script document from the steps of its main section. */
export const script = (...steps: readonly unknown[]): object => ({
  version: '1.0.0',
  sections: { main: steps },
})

/** The text of a script document from the steps of its main section. */
export const scriptText = (...steps: readonly unknown[]): string => JSON.stringify(script(...steps))

/** An XML document from its verbs. */
export const xmlText = (...verbs: readonly string[]): string => `<Response>${verbs.join('')}</Response>`

/** The text of a call flow with one node behind its start. */
export const flowText = (kind: string, options: object): string =>
  JSON.stringify({
    version: '1.0.0',
    nodes: { start: { kind: 'start', edges: { next: 'only' } }, only: { kind, options } },
  })

/** A handler with a script in place. */
export const scripted = (...steps: readonly unknown[]): object => ({
  kind: 'script',
  document: script(...steps),
})

/** A domain application that loopback may call. */
export const application = (domain: string, handler?: object): object => ({
  domain,
  allow: loopback,
  ...(handler && { handler }),
})
