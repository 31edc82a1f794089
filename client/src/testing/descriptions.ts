/** Returns an offer of the far side with these kinds of media. */
export const offerOf = (...kinds: ('audio' | 'video')[]): string =>
  ['v=0', ...kinds.map((kind) => `m=${kind} 9 UDP/TLS/RTP/SAVPF 96`), ''].join('\r\n')
