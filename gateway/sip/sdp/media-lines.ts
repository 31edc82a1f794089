/** An m-line as written (RFC 8866 section 5.14). */
export interface MediaLine {
  readonly media: string
  readonly port: number
  readonly protocol: string
  readonly formats: string
}

/**
 * Returns the m-lines of a description that need not be well-formed otherwise. Lines without media, port,
 * protocol and formats are left out.
 */
export const mediaLines = (sdp: string): readonly MediaLine[] =>
  sdp.split(/\r?\n/).flatMap((line) => {
    const [, media = '', port, protocol = '', formats = ''] =
      /^m=(\S+) (\d+)(?:\/\d+)? (\S+) (.*)$/.exec(line) ?? []
    return port === undefined ? [] : [{ media, port: Number(port), protocol, formats: formats.trimEnd() }]
  })
