/** Value of a header field; undefined without the field. Several fields of one name are joined by commas. */
export const headerOf = (message: string, name: string): string | undefined => {
  const head = message.replaceAll('\r', '').split('\n\n')[0] ?? ''
  const values = [...head.matchAll(new RegExp(`^${name}[ \\t]*:[ \\t]*(.*)$`, 'gim'))].map(
    ([, value]) => value,
  )
  return values.length === 0 ? undefined : values.join(', ')
}

/** Body of a message. */
export const bodyOf = (message: string): string =>
  message.replaceAll('\r', '').split('\n\n').slice(1).join('\n\n')

/** Lines of a message's body that begin with this text. */
export const linesOf = (message: string, ...starts: readonly string[]): string[] =>
  bodyOf(message)
    .split('\n')
    .filter((line) => starts.some((start) => line.startsWith(start)))

/** Media direction in the SDP of a message. */
export const directionOf = (message: string): string | undefined =>
  /^a=(sendrecv|sendonly|recvonly|inactive)$/m.exec(bodyOf(message))?.[1]

/** Responses to a method with this CSeq number, in order. */
export const answersTo = (messages: readonly string[], cseq: number, method: string): string[] =>
  messages.filter((message) => new RegExp(`^CSeq[ \\t]*:[ \\t]*${cseq} ${method}\\s*$`, 'im').test(message))
