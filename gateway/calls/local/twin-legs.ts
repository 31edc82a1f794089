import type { AgentTranscriptEvent } from '../../../handlers/verbs.ts'
import type { AudioCodec, Edge, MediaPort } from '../../../media/types.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { Party } from '../../model.ts'
import { newLegId } from '../call/ids.ts'
import { Leg, type LegSignalling } from '../leg/leg.ts'
import { openPortPair } from './loopback-ports.ts'
import { PairTranscript } from './pair-transcript.ts'

/**
 * Signalling of one of two legs that are each other's peer: commands to one leg become events of the other.
 */
class TwinSide implements LegSignalling {
  twin: Leg | undefined
  /** Transcript of the twin's call, for the partner of the leg. */
  readonly #incoming: PairTranscript
  /** Transcript of the leg's call, for the partner of the twin. */
  readonly #outgoing: PairTranscript
  #isPassing = false

  constructor(incoming: PairTranscript, outgoing: PairTranscript) {
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  ring(): void {}

  async progress(): Promise<void> {}

  async answer(): Promise<void> {}

  end(cause: Cause): void {
    this.#incoming.connect(undefined)
    this.twin?.ended(cause)
  }

  paired(partner: Leg | undefined): void {
    this.#incoming.connect(partner)
  }

  transcript(event: AgentTranscriptEvent): void {
    this.#pass(() => this.#outgoing.receive(event))
  }

  userEvent(event: Readonly<Record<string, unknown>>): boolean {
    return this.#pass(() => this.twin?.partner?.userEvent(event)) ?? false
  }

  async sendDigits(digits: string): Promise<void> {
    for (const digit of digits.replace(/w/gi, '')) this.twin?.digit(digit)
  }

  /** Passes on an event once. It comes back if both parties of two calls are pairs of twins. */
  #pass<T>(pass: () => T): T | undefined {
    if (this.#isPassing) return undefined
    this.#isPassing = true
    try {
      return pass()
    } finally {
      this.#isPassing = false
    }
  }
}

/**
 * Returns two answered legs with connected audio, one for the call of each given leg. Each has the identity
 * of the party behind the other. Ports of different calls cannot be joined, so the two legs exchange RTP.
 * Returns undefined if a given leg has no audio. Rejects if no port can be opened; nothing stays open then.
 */
export const twinLegs = async (
  edge: Pick<Edge, 'open'>,
  first: Leg,
  second: Leg,
  now: () => number,
): Promise<readonly [Leg, Leg] | undefined> => {
  const groups = [first.port?.group, second.port?.group] as const
  if (groups[0] === undefined || groups[1] === undefined) return undefined
  const [a, b] = await openPortPair(edge, [groups[0], groups[1]], codecBetween(first.port, second.port))
  const transcripts = [new PairTranscript(), new PairTranscript()] as const
  const sides = [
    new TwinSide(transcripts[0], transcripts[1]),
    new TwinSide(transcripts[1], transcripts[0]),
  ] as const
  const here = twinLeg(first, second, sides[0], a, now)
  const there = twinLeg(second, first, sides[1], b, now)
  sides[0].twin = there
  sides[1].twin = here
  return [here, there]
}

/**
 * Returns the codec that both ports use, so that no audio is transcoded. If they differ, returns one without
 * loss for the narrower of the two.
 */
const codecBetween = (first: MediaPort | undefined, second: MediaPort | undefined): AudioCodec => {
  const spoken = [first?.codec ?? 'PCMU', second?.codec ?? 'PCMU'] as const
  const wide = spoken.every((codec) => codec !== 'PCMU' && codec !== 'PCMA')
  const narrow = spoken.find((codec) => codec === 'PCMU' || codec === 'PCMA') ?? 'PCMU'
  return spoken[0] === spoken[1] ? spoken[0] : wide ? 'L16' : narrow
}

const twinLeg = (like: Leg, other: Leg, side: TwinSide, port: MediaPort, now: () => number): Leg => {
  const { direction, from, to } = like
  const own =
    direction === 'inbound' ? { from: partyBehind(other) ?? from } : { to: partyBehind(other) ?? to }
  const leg = new Leg({ id: newLegId(), kind: 'sip', direction, from, to, ...own, now })
  leg.attach(side)
  leg.setPort(port)
  leg.answered()
  return leg
}

/** Returns the party that a leg is connected to, as it identifies itself. */
const partyBehind = ({ partner }: Leg): Party | undefined =>
  partner?.direction === 'inbound' ? partner.from : partner?.to
