import type { App } from '../drachtio/app.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { bareNameAddr, parseNameAddrs } from '../message/name-addr.ts'
import { detachedCopy, splitOutside } from '../message/text.ts'
import type { FarEnd } from '../reach/far-end.ts'
import type { Flow } from '../transport/types.ts'
import { type Addressing, addressing } from './addressing.ts'
import { Offers } from './offers.ts'

/** Reliable provisional responses without a PRACK that are remembered of one dialog. */
const maxUnpracked = 16

/** How a dialog begins. */
export interface DialogOptions {
  readonly id: string
  readonly callId: string
  readonly localTag: string
  readonly remoteTag: string
  /** The From (or To) value with which we sign requests, tag included. */
  readonly localAddress: string
  /** The To value of our requests, tag included. */
  readonly remoteAddress: string
  /** Route set in the order of use (RFC 3261 12.1). */
  readonly routeSet: readonly string[]
  readonly localSeq: number
  readonly remoteSeq: number
  readonly localContact: string
  readonly flow: Flow
  /** Way that the request which makes the dialog took, where it was ours; default {@link flow}. */
  readonly origin?: Flow
  /** Far end as the application names it. Default: nothing is known of it. */
  readonly farEnd?: FarEnd
  /** True for a peer that has yet to prove that it is at its address. Default false. */
  readonly isPeerUnverified?: boolean
  /** The remote target; empty where the peer gave no Contact. */
  readonly target: string
  readonly owner: App | undefined
  /** True for one made by SUBSCRIBE. Default false. */
  readonly isSubscription?: boolean
}

/** The dialog id that drachtio uses: Call-ID and the tag of whoever created the dialog. */
export const dialogId = (callId: string, creatorTag: string): string => `${callId};from-tag=${creatorTag}`

/** The single Contact URI of a message; undefined without one. */
export const contactOf = (message: SipRequest | SipResponse): string | undefined => {
  const values = message.headers.all('contact')
  if (values.length === 0 || values[0] === '*') return undefined
  return parseNameAddrs(values.slice(0, 1), 'Contact')[0]?.uri
}

/** The Record-Route values of a message, one per list entry. */
export const recordRoute = (message: SipRequest | SipResponse): string[] =>
  message.headers.all('record-route').flatMap((value) => splitOutside(value, ',', 'Record-Route'))

/** The peer-to-peer relationship of RFC 3261 section 12: what is needed to send and to recognise its requests. */
export class Dialog {
  readonly id: string
  readonly callId: string
  readonly localTag: string
  readonly remoteTag: string
  readonly localAddress: string
  readonly remoteAddress: string
  readonly owner: App | undefined
  readonly isSubscription: boolean
  /** Way by which the dialog began: its far address is the peer's own, whatever the peer writes later. */
  readonly origin: Flow
  /** Far end as the application names it. */
  farEnd: FarEnd | undefined
  /** True until the peer proves by a request of its own that it is at its address; see `unconfirmedHeader`. */
  isPeerUnverified: boolean
  /** Offers without an answer. */
  readonly offers = new Offers()
  localContact: string
  /** True from the 2xx on. */
  isConfirmed = false
  /** Transaction id of our own re-INVITE that has no final response yet. */
  inviteTxn: string | undefined
  /** CSeq of the last INVITE of ours that got a 2xx: what an ACK of the application means. */
  answeredSeq: number | undefined
  /** Set where a CANCEL crossed the 2xx: the BYE follows the ACK at once. */
  mustEndAfterAck = false
  #ended = false
  // Most dialogs need neither of the two sets.
  #atEnd: Set<() => void> | undefined
  #routeSet: readonly string[]
  #target: string
  #flow: Flow
  #localSeq: number
  #remoteSeq: number
  /** The last reliable provisional response that was taken, and those whose PRACK was not sent yet (RFC 3262 4). */
  #reliable: { readonly seq: number; readonly rseq: number } | undefined
  #unpracked: Set<number> | undefined
  #ack: { seq: number; bytes: Buffer; flow: Flow } | undefined

  constructor(start: DialogOptions) {
    // A dialog outlives the messages that its parts were cut out of.
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

  /** True once a BYE ended it, or whatever else ends such a dialog. */
  get isEnded(): boolean {
    return this.#ended
  }

  /** Calls `run` once, when the dialog ends. The function that it returns takes that back. */
  whenEnded(run: () => void): () => void {
    this.#atEnd ??= new Set()
    this.#atEnd.add(run)
    return () => this.#atEnd?.delete(run)
  }

  /** Ends the dialog; only `Dialogs` says so. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    const runs = this.#atEnd
    this.#atEnd = undefined
    for (const run of runs ?? []) run()
  }

  /** Route set in the order of use (RFC 3261 12.1). */
  get routeSet(): readonly string[] {
    return this.#routeSet
  }

  /** The 2xx has the last word on the way (RFC 3261 13.2.2.4). */
  reroute(routeSet: readonly string[]): void {
    this.#routeSet = routeSet.map(detachedCopy)
  }

  /** The remote target: the request-uri of our requests. */
  get target(): string {
    return this.#target
  }

  /** The way the peer's last target-refreshing message came. */
  get flow(): Flow {
    return this.#flow
  }

  /** The CSeq number of the last request that we sent. */
  get localSeq(): number {
    return this.#localSeq
  }

  /** The number of the next request that we send. */
  nextSeq(): number {
    this.#localSeq++
    return this.#localSeq
  }

  /** RFC 3261 12.2.2: false for a request that is older than one seen before. */
  acceptSeq(seq: number): boolean {
    if (seq < this.#remoteSeq) return false
    this.#remoteSeq = seq
    return true
  }

  /**
   * RFC 3262 4: takes a reliable provisional response to the INVITE `seq` where it is the first or the next one. False for a repeated
   * one, and for one that came too early, or while too many others wait for their PRACK: the peer will send it again.
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

  /** True while a reliable response with this number waits for its PRACK. */
  awaitsPrack(rseq: number): boolean {
    return this.#unpracked?.has(rseq) ?? false
  }

  /** Its PRACK is on its way. */
  pracked(rseq: number): void {
    this.#unpracked?.delete(rseq)
  }

  /** Target refresh (RFC 3261 12.2): takes the Contact of an INVITE, UPDATE or of a 2xx to one. */
  refresh(message: SipRequest | SipResponse, flow: Flow): void {
    const contact = contactOf(message)
    if (contact !== undefined) this.#target = detachedCopy(contact)
    this.#flow = flow
  }

  /** Keeps the last ACK that we sent, to send it again with each repeated 2xx. */
  keepAck(seq: number, bytes: Buffer, flow: Flow): void {
    this.#ack = { seq, bytes, flow }
  }

  /** Sends the kept ACK again if it belongs to this INVITE; false where there is none yet. */
  repeatAck(seq: number): boolean {
    if (this.#ack?.seq !== seq) return false
    this.#ack.flow.send(this.#ack.bytes)
    return true
  }

  /** Forgets the kept ACK once no 2xx can be repeated any more. */
  forgetAck(seq: number): void {
    if (this.#ack?.seq === seq) this.#ack = undefined
  }

  /** How our requests are addressed. */
  addressing(): Addressing {
    return addressing(this.#target, this.#routeSet)
  }
}

/** A From or To value without its tag, to sign our own requests. */
export const withTag = (address: Parameters<typeof bareNameAddr>[0], tag: string): string =>
  `${bareNameAddr(address)}${tag === '' ? '' : `;tag=${tag}`}`
