import type { App } from '../drachtio/app.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { bareNameAddr, parseNameAddrs } from '../message/name-addr.ts'
import { detachedCopy, splitOutside } from '../message/text.ts'
import type { FarEnd } from '../reach/far-end.ts'
import type { Flow } from '../transport/types.ts'
import { type Addressing, addressing } from './addressing.ts'
import { Offers } from './offers.ts'

/** Maximum number of remembered reliable provisional responses without a PRACK. */
const maxUnpracked = 16

/** Initial values of a dialog. */
export interface DialogOptions {
  readonly id: string
  readonly callId: string
  readonly localTag: string
  readonly remoteTag: string
  /** From value of requests that the agent sends (To value in responses), with its tag. */
  readonly localAddress: string
  /** To value of requests that the agent sends, with its tag. */
  readonly remoteAddress: string
  /** Route set in the order of use (RFC 3261 12.1). */
  readonly routeSet: readonly string[]
  readonly localSeq: number
  readonly remoteSeq: number
  readonly localContact: string
  readonly flow: Flow
  /** Flow of the request that created the dialog, if the agent sent it; default {@link flow}. */
  readonly origin?: Flow
  /** Far end as named by the application. Default: unknown. */
  readonly farEnd?: FarEnd
  /** Whether the peer's address is unverified. Default false. */
  readonly isPeerUnverified?: boolean
  /** The remote target; empty if the peer sent no Contact. */
  readonly target: string
  readonly owner: App | undefined
  /** Whether a SUBSCRIBE created it. Default false. */
  readonly isSubscription?: boolean
}

/** Returns drachtio's id of a dialog: Call-ID and the tag of the side that created the dialog. */
export const dialogId = (callId: string, creatorTag: string): string => `${callId};from-tag=${creatorTag}`

/** Returns the single Contact URI of a message; undefined without one. */
export const contactOf = (message: SipRequest | SipResponse): string | undefined => {
  const values = message.headers.all('contact')
  if (values.length === 0 || values[0] === '*') return undefined
  return parseNameAddrs(values.slice(0, 1), 'Contact')[0]?.uri
}

/** Returns the Record-Route values of a message, one per entry. */
export const recordRoute = (message: SipRequest | SipResponse): string[] =>
  message.headers.all('record-route').flatMap((value) => splitOutside(value, ',', 'Record-Route'))

/** Peer-to-peer relationship of RFC 3261 section 12: the state for sending and recognising its requests. */
export class Dialog {
  readonly id: string
  readonly callId: string
  readonly localTag: string
  readonly remoteTag: string
  readonly localAddress: string
  readonly remoteAddress: string
  readonly owner: App | undefined
  readonly isSubscription: boolean
  /**
   * Flow on which the dialog began. Its remote address is the peer's, whatever the peer writes into later
   * messages.
   */
  readonly origin: Flow
  /** Far end as named by the application. */
  farEnd: FarEnd | undefined
  /**
   * Whether the peer's address is unverified: true until the peer sends a request; see `unverifiedHeader`.
   */
  isPeerUnverified: boolean
  /** Offers without an answer. */
  readonly offers = new Offers()
  localContact: string
  /** Whether the dialog is confirmed: true from the 2xx on. */
  isConfirmed = false
  /** Transaction id of a re-INVITE that the agent sent and that has no final response. */
  inviteTxn: string | undefined
  /**
   * CSeq of the agent's latest INVITE that got a 2xx and no ACK yet: an ACK of the application belongs to it.
   */
  answeredSeq: number | undefined
  /** Whether a CANCEL crossed the 2xx, so that the BYE follows the ACK at once. */
  mustEndAfterAck = false
  #hasEnded = false
  // The two sets are created on demand: most dialogs need neither.
  #atEnd: Set<() => void> | undefined
  #routeSet: readonly string[]
  #target: string
  #flow: Flow
  #localSeq: number
  #remoteSeq: number
  /** The latest accepted reliable provisional response, and those whose PRACK was not sent (RFC 3262 4). */
  #reliable: { readonly seq: number; readonly rseq: number } | undefined
  #unpracked: Set<number> | undefined
  #ack: { seq: number; bytes: Buffer; flow: Flow } | undefined

  constructor(start: DialogOptions) {
    // The texts are copied, because a dialog outlives the messages from which they were taken.
    this.id = detachedCopy(start.id)
    this.callId = detachedCopy(start.callId)
    this.localTag = detachedCopy(start.localTag)
    this.remoteTag = detachedCopy(start.remoteTag)
    this.localAddress = detachedCopy(start.localAddress)
    this.remoteAddress = detachedCopy(start.remoteAddress)
    this.#routeSet = start.routeSet.map(detachedCopy)
    this.owner = start.owner
    this.isSubscription = start.isSubscription ?? false
    this.localContact = detachedCopy(start.localContact)
    this.#target = detachedCopy(start.target)
    this.#flow = start.flow
    this.origin = start.origin ?? start.flow
    this.farEnd = start.farEnd
    this.isPeerUnverified = start.isPeerUnverified ?? false
    this.#localSeq = start.localSeq
    this.#remoteSeq = start.remoteSeq
  }

  /** Whether the dialog has ended, by a BYE or otherwise. */
  get isEnded(): boolean {
    return this.#hasEnded
  }

  /** Calls `run` once, at the end of the dialog. Returns a function that revokes this. */
  whenEnded(run: () => void): () => void {
    this.#atEnd ??= new Set()
    this.#atEnd.add(run)
    return () => this.#atEnd?.delete(run)
  }

  /** Ends the dialog. Only `Dialogs` calls it. */
  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const runs = this.#atEnd
    this.#atEnd = undefined
    for (const run of runs ?? []) run()
  }

  /** Route set in the order of use (RFC 3261 12.1). */
  get routeSet(): readonly string[] {
    return this.#routeSet
  }

  /** Replaces the route set by that of the 2xx (RFC 3261 13.2.2.4). */
  reroute(routeSet: readonly string[]): void {
    this.#routeSet = routeSet.map(detachedCopy)
  }

  /** The remote target: the request-URI of requests to the peer. */
  get target(): string {
    return this.#target
  }

  /** The flow of the peer's latest target-refreshing message. */
  get flow(): Flow {
    return this.#flow
  }

  /** CSeq number of the agent's latest request. */
  get localSeq(): number {
    return this.#localSeq
  }

  /** Returns the CSeq number of the agent's next request. */
  nextSeq(): number {
    this.#localSeq++
    return this.#localSeq
  }

  /** Returns false for a request that is older than an earlier one (RFC 3261 12.2.2). */
  acceptSeq(seq: number): boolean {
    if (seq < this.#remoteSeq) return false
    this.#remoteSeq = seq
    return true
  }

  /**
   * Accepts a reliable provisional response to the INVITE `seq` if it is the first or the next one (RFC 3262
   * 4). Returns false for a retransmission, for a response that arrives out of order, and while too many
   * others wait for their PRACK. The peer retransmits a response that was not accepted.
   */
  acceptRseq(seq: number, rseq: number): boolean {
    const last = this.#reliable?.seq === seq ? this.#reliable : undefined
    if (last && rseq !== last.rseq + 1) return false
    if (!last || !this.#unpracked) this.#unpracked = new Set()
    else if (this.#unpracked.size >= maxUnpracked) return false
    this.#reliable = { seq, rseq }
    this.#unpracked.add(rseq)
    return true
  }

  /** Returns whether a reliable response of this number waits for its PRACK. */
  awaitsPrack(rseq: number): boolean {
    return this.#unpracked?.has(rseq) ?? false
  }

  /** Notes that the PRACK was sent. */
  pracked(rseq: number): void {
    this.#unpracked?.delete(rseq)
  }

  /** Refreshes the target (RFC 3261 12.2) by the Contact of an INVITE, an UPDATE or a 2xx to one. */
  refresh(message: SipRequest | SipResponse, flow: Flow): void {
    const contact = contactOf(message)
    if (contact !== undefined) this.#target = detachedCopy(contact)
    this.#flow = flow
  }

  /** Keeps the latest ACK, which is sent again with each retransmitted 2xx. */
  keepAck(seq: number, bytes: Buffer, flow: Flow): void {
    this.#ack = { seq, bytes, flow }
  }

  /** Sends the kept ACK again. Returns false if it does not belong to this INVITE. */
  repeatAck(seq: number): boolean {
    if (this.#ack?.seq !== seq) return false
    this.#ack.flow.send(this.#ack.bytes)
    return true
  }

  /** Drops the kept ACK once its 2xx is no longer retransmitted. */
  forgetAck(seq: number): void {
    if (this.#ack?.seq === seq) this.#ack = undefined
  }

  /** Returns the addressing of requests to the peer. */
  addressing(): Addressing {
    return addressing(this.#target, this.#routeSet)
  }
}

/** Returns a From or To value with this tag instead of the one it has. */
export const withTag = (address: Parameters<typeof bareNameAddr>[0], tag: string): string =>
  `${bareNameAddr(address)}${tag === '' ? '' : `;tag=${tag}`}`
