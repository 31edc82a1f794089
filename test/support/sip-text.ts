/** Value of a header field, several of one name joined with a comma; undefined without the field. */
export const headerOf = (message: string, name: string): string | undefined => {
  const head = message.replaceAll('\r', '').split('\n\n')[0] ?? ''
  const values = [...head.matchAll(new RegExp(`^${name}[ \\t]*:[ \\t]*(.*)$`, 'gim'))].map(
    ([, value]) => value,
  )
  return values.length === 0 ? undefined : values.join(', ')
}

/** The body of a message. */
export const bodyOf = (message: string): string =>
  message.replaceAll('\r', '').split('\n\n').slice(1).join('\n\n')

/** The lines of a message's body that begin with these words. */
export const linesOf = (message: string, ...starts: readonly string[]): string[] =>
  bodyOf(message)
    .split('\n')
    .filter((line) => starts.some((start) => line.startsWith(start)))

/** The direction in the SDP of a message. */
export const directionOf = (message: string): string | undefined =>
  /^a=(sendrecv|sendonly|recvonly|inactive)$/m.exec(bodyOf(message))?.[1]

/** Of the answers to requests of one method, in order, those with a CSeq of this number. */
export const answersTo = (messages: readonly string[], cseq: number, method: string): string[] =>
  messages.filter((message) => new RegExp(`^CSeq[ \\t]*:[ \\t]*${cseq} ${method}\\s*$`, 'im').test(message))
