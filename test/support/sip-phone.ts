import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import type { Page } from 'playwright-core'
import type { Browser } from './browser.ts'
import { until } from './until.ts'

/** Folder of the modules of sip.js, which a browser loads unchanged. */
const library = dirname(createRequire(import.meta.url).resolve('sip.js'))

const html = `<!doctype html><meta charset="utf-8"><title>Phone</title>
  <script type="module">import * as SIP from '/lib/index.js'; globalThis.SIP = SIP</script>`

/** Serves the page and the library. */
const serve = async (): Promise<Server> => {
  const server = createServer((request, response) => {
    const path = normalize(request.url ?? '/')
    const file = join(library, path.slice('/lib'.length))
    const isModule = /^\/lib\/[\w./-]+\.js$/.test(path) && existsSync(file)
    response.statusCode = isModule || path === '/' ? 200 : 404
    response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html')
    response.end(isModule ? readFileSync(file) : html)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** User and registrar of a phone. */
export interface SipPhoneOptions {
  /** WebSocket of the registrar. */
  readonly server: string
  /** Host of its address of record. */
  readonly domain: string
  readonly username: string
  readonly password: string
}

/** Objects of the library that the page keeps. */
interface SipWindow {
  SIP: {
    UserAgent: (new (options: object) => SipAgent) & { makeURI(text: string): object }
    Registerer: new (agent: SipAgent, options?: object) => SipRegisterer
    Inviter: new (agent: SipAgent, target: object, options?: object) => SipSession
  }
  agent: SipAgent
  registerer: SipRegisterer
  /** Failure response to the registration; undefined after success. */
  refused?: number
  session: SipSession
  ringing: SipSession[]
  states: string[]
  /** Records the states of the current call, and plays its audio. */
  follow(): void
  Audio: new () => { srcObject: unknown; play(): Promise<void> }
}

interface SipAgent {
  start(): Promise<void>
  stop(): Promise<void>
}

interface SipRegisterer {
  readonly state: string
  register(options?: object): Promise<unknown>
  unregister(): Promise<unknown>
}

interface SipSession {
  readonly sessionDescriptionHandler: {
    readonly remoteMediaStream: unknown
    readonly peerConnection: {
      getSenders(): readonly { readonly dtmf: { readonly canInsertDTMF: boolean } | null }[]
    }
    sendDtmf(tones: string): boolean
  }
  readonly stateChange: { addListener(listener: (state: string) => void): void }
  readonly remoteIdentity: { readonly displayName: string; readonly uri: { readonly user?: string } }
  accept(): Promise<void>
  reject(): Promise<void>
  invite(options?: object): Promise<unknown>
  bye(): Promise<unknown>
}

/** Page with unmodified sip.js: a SIP endpoint whose audio is WebRTC. */
export class SipPhone {
  readonly #server: Server
  readonly page: Page

  constructor(server: Server, page: Page) {
    this.#server = server
    this.page = page
  }

  /** Opens the page and registers. Rejects if the registrar rejects the registration. */
  static async open(browser: Browser, options: SipPhoneOptions): Promise<SipPhone> {
    const server = await serve()
    const page = await browser.page()
    const phone = new SipPhone(server, page)
    try {
      await page.goto(`http://localhost:${(server.address() as { port: number }).port}/`)
      await page.waitForFunction(() => 'SIP' in globalThis)
      await page.evaluate(start, options)
      await phone.#isRegistered()
    } catch (error) {
      await phone.close()
      throw error
    }
    return phone
  }

  /** Waits for a call, and returns the number and the name of the caller. */
  async rings(): Promise<{ readonly user: string; readonly name: string }> {
    await this.page.waitForFunction(() => (globalThis as unknown as SipWindow).ringing.length > 0)
    return this.page.evaluate(() => {
      const { remoteIdentity } = (globalThis as unknown as SipWindow).ringing.at(-1)!
      return { user: remoteIdentity.uri.user ?? '', name: remoteIdentity.displayName }
    })
  }

  /** Answers the call that rang last. */
  accept(): Promise<void> {
    return this.page.evaluate(async () => {
      const window = globalThis as unknown as SipWindow
      window.session = window.ringing.at(-1)!
      window.follow()
      await window.session.accept()
    })
  }

  /** Calls a SIP URI. */
  dial(uri: string): Promise<void> {
    return this.page.evaluate(async (target) => {
      const window = globalThis as unknown as SipWindow
      window.session = new window.SIP.Inviter(window.agent, window.SIP.UserAgent.makeURI(target))
      window.follow()
      await window.session.invite()
    }, uri)
  }

  /**
   * Sends digits by RFC 4733 in the current call. Returns whether the browser can send digits, and whether
   * sip.js reported success.
   */
  press(digits: string): Promise<readonly [canInsertDtmf: boolean | undefined, sent: boolean]> {
    return this.page.evaluate((tones) => {
      const { sessionDescriptionHandler: handler } = (globalThis as unknown as SipWindow).session
      const [sender] = handler.peerConnection.getSenders()
      return [sender?.dtmf?.canInsertDTMF, handler.sendDtmf(tones)] as const
    }, digits)
  }

  /** Hangs up. */
  hangUp(): Promise<void> {
    return this.page.evaluate(async () => {
      await (globalThis as unknown as SipWindow).session.bye()
    })
  }

  /** Waits until the current call has reached a state of sip.js, such as `Established` or `Terminated`. */
  async reaches(state: string): Promise<void> {
    await until(
      `the phone's call is ${state}`,
      () => this.page.evaluate(() => (globalThis as unknown as SipWindow).states),
      (states) => states.includes(state),
    )
  }

  /** Removes the registration. */
  unregister(): Promise<void> {
    return this.page.evaluate(async () => {
      await (globalThis as unknown as SipWindow).registerer.unregister()
    })
  }

  async #isRegistered(): Promise<void> {
    const outcome = () =>
      this.page.evaluate(() => {
        const { registerer, refused } = globalThis as unknown as SipWindow
        return refused ?? registerer.state
      })
    const found = await until(
      'the phone is registered, or refused',
      outcome,
      (state) => typeof state === 'number' || state === 'Registered',
      5_000,
    )
    if (found !== 'Registered') throw new Error(`the registrar answered ${found}`)
  }

  /** Closes the page, as a user closes a tab. */
  async close(): Promise<void> {
    await this.page.context().close()
    this.#server.close()
  }
}

const start = async ({ server, domain, username, password }: SipPhoneOptions): Promise<void> => {
  const window = globalThis as unknown as SipWindow
  window.ringing = []
  window.states = []
  window.follow = () => {
    const { session } = window
    window.states.length = 0
    session.stateChange.addListener((state) => {
      window.states.push(state)
      if (state !== 'Established') return
      const audio = new window.Audio()
      audio.srcObject = session.sessionDescriptionHandler.remoteMediaStream
      void audio.play()
    })
  }
  window.agent = new window.SIP.UserAgent({
    uri: window.SIP.UserAgent.makeURI(`sip:${username}@${domain}`),
    transportOptions: { server },
    authorizationUsername: username,
    authorizationPassword: password,
    logLevel: 'error',
    sessionDescriptionHandlerFactoryOptions: {
      iceGatheringTimeout: 500,
      peerConnectionConfiguration: { iceServers: [] },
    },
    delegate: { onInvite: (session: SipSession) => window.ringing.push(session) },
  })
  await window.agent.start()
  window.registerer = new window.SIP.Registerer(window.agent, { expires: 300 })
  const onReject = ({ message }: { readonly message: { readonly statusCode: number } }): void => {
    window.refused = message.statusCode
  }
  await window.registerer.register({ requestDelegate: { onReject } })
}
