/** Figures of the parser, for `scripts/bench sip`. */
import { checkMessage } from '../../sip-agent/message/check.ts'
import { parseDatagram } from '../../sip-agent/message/parse.ts'

const sdp = [
  'v=0',
  'o=- 20518 0 IN IP4 203.0.113.1',
  's=-',
  'c=IN IP4 203.0.113.1',
  't=0 0',
  'm=audio 54400 RTP/AVP 8 0 18 101',
  'a=rtpmap:8 PCMA/8000',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:18 G729/8000',
  'a=fmtp:18 annexb=no',
  'a=rtpmap:101 telephone-event/8000',
  'a=fmtp:101 0-15',
  'a=ptime:20',
  'a=sendrecv',
  '',
].join('\r\n')

/** Returns a carrier's INVITE with 16 header fields. */
const invite = (call: number): Buffer =>
  Buffer.from(
    [
      'INVITE sip:+4930123456@198.51.100.20:5060;user=phone SIP/2.0',
      `Via: SIP/2.0/UDP 203.0.113.10:5060;branch=z9hG4bK${call}kjhdyff;rport`,
      'Record-Route: <sip:203.0.113.10;lr;ftag=1928301774>',
      'Max-Forwards: 69',
      `From: "+49301234567" <sip:+49301234567@203.0.113.10;user=phone>;tag=19283${call}`,
      'To: <sip:+4930123456@198.51.100.20;user=phone>',
      `Call-ID: a84b4c76e66710${call}@203.0.113.10`,
      'CSeq: 314159 INVITE',
      'Contact: <sip:+49301234567@203.0.113.10:5060;transport=udp>',
      'Allow: INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK',
      'Supported: 100rel, timer, replaces',
      'Session-Expires: 1800',
      'Min-SE: 90',
      'User-Agent: Carrier SBC 7.2.1',
      'P-Asserted-Identity: <sip:+49301234567@203.0.113.10;user=phone>',
      'Content-Type: application/sdp',
      `Content-Length: ${sdp.length}`,
      '',
      sdp,
    ].join('\r\n'),
  )

const rounds = 15
const turns = 20

/** Prints the CPU time to parse and check an INVITE: median and minimum of the rounds. */
export const parser = (): void => {
  const messages = Array.from({ length: 500 }, (_, call) => invite(100_000 + call))
  const times: number[] = []
  for (let round = -2; round < rounds; round++) {
    const before = process.threadCpuUsage()
    for (let turn = 0; turn < turns; turn++) for (const bytes of messages) checkMessage(parseDatagram(bytes))
    const used = process.threadCpuUsage(before)
    // The first two rounds warm up.
    if (round >= 0) times.push((used.user + used.system) / (turns * messages.length))
  }
  const sorted = times.toSorted((a, b) => a - b)
  const median = sorted[rounds >> 1] ?? 0
  const best = sorted[0] ?? 0
  console.log(
    `parser: ${median.toFixed(1)} µs per INVITE of 16 headers with SDP ` +
      `(median of ${rounds} rounds, best ${best.toFixed(1)})`,
  )
}
