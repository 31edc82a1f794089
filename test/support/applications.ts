/** Domain applications that the scenarios share. */

/** Network of the scenarios' carriers. */
export const loopback = ['127.0.0.0/8']

/** Returns a script document with these steps in its main section. */
export const script = (...steps: readonly unknown[]): object => ({
  version: '1.0.0',
  sections: { main: steps },
})

/** Returns the text of a script document with these steps in its main section. */
export const scriptText = (...steps: readonly unknown[]): string => JSON.stringify(script(...steps))

/** Returns an XML document with these verbs. */
export const xmlText = (...verbs: readonly string[]): string => `<Response>${verbs.join('')}</Response>`

/** Returns the text of a call flow with one node after its start. */
export const flowText = (kind: string, options: object): string =>
  JSON.stringify({
    version: '1.0.0',
    nodes: { start: { kind: 'start', edges: { next: 'only' } }, only: { kind, options } },
  })

/** Returns a handler with an inline script. */
export const scripted = (...steps: readonly unknown[]): object => ({
  kind: 'script',
  document: script(...steps),
})

/** Returns a domain application that callers on loopback may call. */
export const application = (domain: string, handler?: object): object => ({
  domain,
  allow: loopback,
  ...(handler && { handler }),
})
