import { type AppHeader, appHeaders, forbidden } from '../core/app-headers.ts'
import { type Context, newBranch, newTag } from '../core/context.ts'
import { loopMark } from '../core/loops.ts'
import { type MadeRequest, makeVia, ownAddressFor } from '../core/requests.ts'
import { makeResponse, type ResponseTemplate, responseTemplate } from '../core/uas/responses.ts'
import { contactOf } from '../dialog/dialog.ts'
import type { App } from '../drachtio/app.ts'
import { checkMessage } from '../message/check.ts'
import { defaultMessageLimits } from '../message/limits.ts'
import type { RawRequest, SipRequest, SipResponse } from '../message/message.ts'
import { parseDatagram } from '../message/parse.ts'
import { serialiseMessage } from '../message/serialise.ts'
import type { ServerEntry } from '../transaction/transactions.ts'
import type { Endpoint, Flow } from '../transport/types.ts'
import { bestResponse } from './best-response.ts'
import { Branch } from './branch.ts'
import { breadthOf, forwardedRequest, forwardedResponse } from './forward.ts'
import type { OwnRoutes } from './own-routes.ts'
import type { ProxyOrder } from './proxy-order.ts'

/** Maximum number of targets of one request, including those of redirections. */
const maxTargets = 32
/** Headers that the application must not change in a forwarded request. */
const fixed = new Set([
  ...forbidden,
  'from',
  'to',
  'call-id',
  'cseq',
  'contact',
  'content-type',
  'max-forwards',
  'max-breadth',
])
const nowhere: Endpoint = { protocol: 'udp', address: '', port: 0 }

/** Options of a proxied request. */
export interface ProxiedRequestOptions {
  readonly context: Context
  readonly app: App
  readonly msgId: string
  readonly order: ProxyOrder
  /** The application's message: headers to add. */
  readonly raw: RawRequest
  readonly request: SipRequest
  readonly side: ServerEntry
  /** Whether the request-URI names the agent itself, so that the target replaces it. */
  readonly isForAgent: boolean
  readonly routes: OwnRoutes
  /** Called once, after the sender received its final response. */
  readonly done: () => void
}

/** One request that the agent forwards as a stateful proxy (RFC 3261 section 16). */
export class ProxiedRequest {
  readonly #start: ProxiedRequestOptions
  readonly #base: ResponseTemplate
  readonly #waiting: string[]
  readonly #branches: Branch[] = []
  /** Targets that a redirection named. */
  readonly #redirections = new Set<string>()
  /** Final rejections of the branches, each as the sender would receive it. */
  readonly #refusals: SipResponse[] = []
  #targets = 0
  #isStopped = false
  #isAnswered = false

  constructor(start: ProxiedRequestOptions) {
    this.#start = start
    this.#base = responseTemplate(start.request)
    this.#waiting = []
    this.#queue(start.order.targets)
  }

  /** Starts with the first target, or with all of them. */
  run() {
    const { app, msgId, order, side } = this.#start
    if (side.isInvite) this.#respond(100)
    if (!order.reportsResponses) app.ok(msgId, 'done')
    this.#advance()
  }

  /** Handles the sender's CANCEL (RFC 3261 16.10). */
  cancel() {
    this.#stop()
  }

  /** Stops all branches. */
  close() {
    for (const branch of this.#branches) branch.stop()
  }

  #queue(targets: readonly string[]) {
    for (const target of targets) {
      if (this.#targets >= maxTargets) return
      this.#targets++
      this.#waiting.push(target)
    }
  }

  /** Stops trying targets, and cancels all branches except `but`. */
  #stop(but?: Branch) {
    this.#isStopped = true
    this.#waiting.length = 0
    for (const branch of this.#branches) if (branch !== but) branch.cancel()
  }

  #advance() {
    const { order } = this.#start
    while (this.#waiting.length > 0 && (order.isParallel || this.#branches.every(({ isDone }) => isDone))) {
      const free = this.#freeBreadth()
      // RFC 5393 5.3.3: if no breadth is left, further targets wait until a branch ends.
      if (free === 0) break
      const share = order.isParallel ? Math.max(1, Math.floor(free / this.#waiting.length)) : free
      const target = this.#waiting.shift() as string
      const branch = this.#branch(target, share)
      this.#branches.push(branch)
      branch.start()
    }
    if (!this.#isAnswered && this.#branches.every(({ isDone }) => isDone)) this.#refuse()
  }

  /** Returns the unused part of Max-Breadth. */
  #freeBreadth(): number {
    const open = this.#branches.filter(({ isDone }) => !isDone)
    return breadthOf(this.#start.request) - open.reduce((sum, { breadth }) => sum + breadth, 0)
  }

  #branch(target: string, breadth: number): Branch {
    const { context, order, request } = this.#start
    return new Branch({
      context,
      target,
      breadth,
      invite: request.method === 'INVITE',
      by: this.#redirections.has(target) ? 'peer' : 'us',
      provisionalMs: order.provisionalMs,
      finalMs: order.finalMs,
      make: (flow) => this.#make(target, breadth, flow),
      response: (branch, response, flow) => this.#response(branch, response, flow),
      failed: (_branch, status) => this.#failed(status),
    })
  }

  #make(target: string, breadth: number, flow: Flow): MadeRequest {
    const { context, order, raw, request, routes, side, isForAgent } = this.#start
    const own = ownAddressFor(flow, context)
    const uri = isForAgent ? target.replace(/^<|>$/g, '') : request.uri
    const branch = newBranch() + loopMark(uri)
    const near = routes.make(ownAddressFor(side.flow, context), request)
    const far = routes.make(own, request)
    // RFC 5658: each side gets the address that it can reach.
    const recordRoutes = !order.staysInPath ? [] : near === far ? [far] : [far, near]
    const extra: AppHeader[] = appHeaders(raw.headers, own, fixed)
    const asPath = request.method === 'REGISTER'
    return forwardedRequest(request, {
      uri,
      branch,
      via: makeVia(own, branch),
      recordRoutes,
      asPath,
      routes: [],
      breadth,
      extra,
    })
  }

  #response(branch: Branch, response: SipResponse, flow: Flow) {
    const back = forwardedResponse(response)
    const { status } = response
    if (status < 200) {
      if (!this.#isAnswered) this.#start.side.machine.respond(status, serialiseMessage(back))
      return
    }
    this.#tell(serialiseMessage(response), flow.remote)
    if (status < 300) {
      this.#success(branch, status, serialiseMessage(back))
      return
    }
    // A late redirection has no effect: the sender already has its response, so no further target is called.
    if (this.#isAnswered) return
    this.#refusals.push(back)
    if (status >= 600 || status === 401 || status === 407) this.#stop(branch)
    else if (status < 400 && this.#start.order.followsRedirects && !this.#isStopped) this.#redirect(response)
    this.#advance()
  }

  #success(branch: Branch, status: number, bytes: Buffer) {
    const { side } = this.#start
    if (this.#isAnswered) {
      // Only further 2xx of an INVITE pass after the final response of the transaction (RFC 3261 16.7, step
      // 5).
      if (side.isInvite) side.flow.send(bytes)
      return
    }
    this.#isAnswered = true
    side.machine.respond(status, bytes)
    this.#stop(branch)
    this.#end()
  }

  #redirect(response: SipResponse) {
    const contact = contactOf(response)
    if (contact === undefined) return
    this.#redirections.add(contact)
    this.#queue([contact])
  }

  #failed(status: number) {
    const bytes = makeResponse(this.#base, { status, tag: newTag() })
    const response = checkMessage(parseDatagram(bytes, defaultMessageLimits))
    this.#tell(bytes, nowhere)
    if (response.kind === 'response') this.#refusals.push(response)
    this.#advance()
  }

  /** Forwards the best rejection after all targets have rejected the request. */
  #refuse() {
    this.#isAnswered = true
    const { side } = this.#start
    const best = bestResponse(this.#refusals)
    if (best) side.machine.respond(best.status, serialiseMessage(best))
    else this.#respond(480)
    this.#end()
  }

  #respond(status: number) {
    const { side } = this.#start
    side.machine.respond(
      status,
      makeResponse(this.#base, { status, tag: status === 100 ? undefined : newTag() }),
    )
  }

  /** Reports a branch's final response to the application. */
  #tell(bytes: Buffer, from: Endpoint) {
    const { app, msgId, order } = this.#start
    if (order.reportsResponses && !this.#isAnswered) app.proxyProgress(msgId, from, bytes)
  }

  #end() {
    const { app, msgId, order, done } = this.#start
    if (order.reportsResponses) app.ok(msgId, 'done')
    done()
  }
}
