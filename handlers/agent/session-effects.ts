import type { ConversationHold } from '../common/conversation-hold.ts'
import { readSound } from '../common/sounds.ts'
import type { AgentEffect, FunctionDefinition, Json } from './document-types.ts'
import { without } from './functions.ts'
import type { Leaving } from './session-leaving.ts'
import type { Moves } from './session-moves.ts'
import type { SessionState } from './session-state.ts'

/** Result of effects, for the model. */
export interface EffectResult {
  /** Text in place of the reply's own. */
  readonly text?: string
  /** Whether the model answers; default true. */
  readonly respond?: boolean
  /** Whether the conversation ends: later effects are void. */
  readonly isLast?: boolean
  /** Runs after the answer. */
  readonly after?: () => void
}

type Of<K extends AgentEffect['kind']> = Extract<AgentEffect, { readonly kind: K }>

/** Collaborators of {@link Effects}. */
export interface EffectDeps {
  readonly moves: Moves
  readonly hold: ConversationHold
  readonly leaving: Leaving
}

/** Carries out the effects of functions' replies on one conversation. */
export class Effects {
  readonly #state: SessionState
  readonly #deps: EffectDeps
  /** End of the effects in progress: those of two replies do not mix. */
  #queue: Promise<unknown> = Promise.resolve()

  #running: Promise<unknown> = Promise.resolve()

  constructor(state: SessionState, deps: EffectDeps) {
    this.#state = state
    this.#deps = deps
  }

  /**
   * Resolves when no document of an action runs on the call: two documents at once would disturb each other.
   * Also at the end of the call.
   */
  async idle(): Promise<void> {
    const { signal } = this.#state.host.call
    if (signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const ended = () => resolve()
    signal.addEventListener('abort', ended, { once: true })
    this.#running.then(ended, ended)
    await promise
    signal.removeEventListener('abort', ended)
  }

  /** Carries out effects in order, after those in progress. Never rejects. */
  carryOut(effects: readonly AgentEffect[], of: FunctionDefinition): Promise<EffectResult> {
    const run = this.#queue
      .then(() => this.#all(effects, of))
      .catch((error: unknown): EffectResult => {
        const reason = error instanceof Error ? error.message : 'unknown'
        this.#state.host.warn(`The actions of ${of.name} failed: ${reason}`)
        return { text: `The actions failed: ${reason}` }
      })
    this.#queue = run
    return run
  }

  async #all(effects: readonly AgentEffect[], of: FunctionDefinition): Promise<EffectResult> {
    // Most polls for input have none.
    if (effects.length === 0) return {}
    const state = this.#state
    let all: EffectResult = {}
    for (const effect of effects) {
      if (state.isOver) {
        this.#drop(effect, of)
        continue
      }
      state.debug('process_action', { action: effect.kind, function: of.name })
      all = { ...all, ...(await this.#one(effect, of)) }
      if (all.isLast) break
    }
    if (!state.isOver) state.refresh()
    return all
  }

  /** Logs an effect that comes after the end. */
  #drop({ kind }: AgentEffect, { name }: FunctionDefinition): void {
    const message = `The action ${kind} of ${name} came after the end of the conversation.`
    this.#state.log.remark(message, this.#state.host.context.now())
    this.#state.host.warn(message)
  }

  /** Carries out one effect. A failure is a warning, and a text for the model. */
  async #one(effect: AgentEffect, of: FunctionDefinition): Promise<EffectResult> {
    try {
      return (await this.#carryOut(effect, of)) ?? {}
    } catch (error) {
      if (this.#state.host.call.signal.aborted) return {}
      const reason = error instanceof Error ? error.message : 'unknown'
      this.#state.host.warn(`The action ${effect.kind} of ${of.name} failed: ${reason}`)
      return { text: `The action failed: ${reason}` }
    }
  }

  async #carryOut(effect: AgentEffect, of: FunctionDefinition): Promise<EffectResult | undefined> {
    const { moves, hold, leaving } = this.#deps
    const { steps } = this.#state
    switch (effect.kind) {
      case 'script':
        return this.#script(effect)
      case 'transfer':
        return this.#transfer(effect)
      case 'background':
        return effect.wait ? this.#playOnce(effect) : this.#voice(effect)
      case 'stop':
      case 'hangup':
        leaving.begin(effect.kind)
        return { respond: false, isLast: true }
      case 'hold':
        if (effect.step !== undefined) await moves.push(steps.goToStep(effect.step), 'webhook_action')
        // The hold waits for what is being said; the effects after it do not.
        hold.begin(effect.seconds, { onTimeout: this.#stepAfter(effect) })
        return { respond: false }
      case 'context':
        await moves.push(steps.goToContext(effect.name), 'webhook_action')
        return undefined
      case 'step':
        await moves.push(steps.goToStep(effect.name), 'webhook_action')
        return undefined
      case 'switch':
        await moves.reset(effect.reset)
        return undefined
      default:
        return this.#data(effect, of)
    }
  }

  /** Effects on data and functions. */
  #data(effect: AgentEffect, of: FunctionDefinition): EffectResult | undefined {
    const { functions } = this.#state
    const { metaDataToken: token } = of
    switch (effect.kind) {
      case 'set-global':
        return this.#global((data) => ({ ...data, ...effect.data }))
      case 'unset-global':
        return this.#global((data) => without(data, effect.keys))
      case 'set-meta':
        functions.setMetaData(token, effect.data)
        return undefined
      case 'unset-meta':
        functions.unsetMetaData(token, effect.keys)
        return undefined
      case 'toggle':
        return this.#toggle(effect, token)
      case 'replace-in-history':
        // The result of the function carries this text.
        return undefined
      case 'user-event':
        this.#state.sendToBrowser(effect.event)
        return undefined
      default:
        return this.#voice(effect)
    }
  }

  /** Effects on what the agent says and hears. */
  #voice(effect: AgentEffect): EffectResult | undefined {
    const { agent } = this.#state
    switch (effect.kind) {
      case 'say':
        void agent?.say(effect.text)
        return { respond: false }
      case 'input':
        this.#state.message({ role: 'user', content: effect.text }, true)
        return { respond: false }
      case 'wait-for-user': {
        const wait = () => agent?.waitForUser(effect.ms)
        if (effect.answerFirst) return { after: wait }
        wait()
        return { respond: false }
      }
      case 'background':
        agent?.background({ url: effect.url, volumeDb: this.#backgroundVolume })
        return undefined
      case 'stop-background':
        agent?.background(undefined)
        return undefined
      default:
        return this.#settings(effect)
    }
  }

  /** Effects on settings; the document can forbid them. */
  #settings(effect: AgentEffect): undefined {
    const state = this.#state
    const isHint = effect.kind === 'add-hints' || effect.kind === 'clear-hints'
    if (isHint) {
      state.changeHints(effect.kind === 'add-hints' ? effect : undefined)
    } else if (effect.kind === 'turns' || effect.kind === 'settings') {
      if (!state.document.params.allowSettings) state.host.warn('The document forbids to change settings.')
      else if (effect.kind === 'turns') state.changeTurns(effect.settings)
      else state.changeModel(effect.settings)
    } else state.log.remark(`The action ${effect.kind} has no effect.`, state.host.context.now())
    return undefined
  }

  get #backgroundVolume(): number {
    return this.#state.document.params.background?.volumeDb ?? 0
  }

  #global(change: (data: Json) => Json): undefined {
    const state = this.#state
    if (state.document.params.allowGlobalData) state.setGlobalData(change(state.globalData))
    else state.host.warn('The document forbids to change the global data.')
    return undefined
  }

  #toggle({ functions }: Of<'toggle'>, token: string): undefined {
    for (const { names, active } of functions) {
      const unknown = this.#state.functions.toggle(token, names, active)
      if (unknown.length > 0)
        this.#state.host.warn(`The functions ${unknown.join(', ')} are unknown, or have another token.`)
    }
    return undefined
  }

  /** Runs a document on the call while the agent is held, or leaves the agent with it. */
  async #script({ document, transfer }: Of<'script'>): Promise<EffectResult> {
    const { host, document: own } = this.#state
    if (!own.params.allowScripts) {
      host.warn('The document forbids actions that run scripts.')
      return {}
    }
    const { leaving } = this.#deps
    if (transfer) {
      await host.leave(document, {})
      leaving.begin('leave')
      return { respond: false, isLast: true }
    }
    const result = await this.#onCall(async () => {
      const done = await host.run(document)
      // The agent stays on hold then.
      if (done.hasLeft) leaving.begin('leave')
      return done
    })
    if (!result || result.hasLeft) return { respond: false, isLast: true }
    return result.response === undefined ? {} : { text: result.response }
  }

  /** Returns what follows a hold that timed out. */
  #stepAfter({ timeoutStep: step }: Of<'hold'>): (() => void) | undefined {
    const { steps } = this.#state
    return step === undefined
      ? undefined
      : () => void this.#deps.moves.push(steps.goToStep(step), 'webhook_action')
  }

  /** Plays a sound to its end while the agent is silent. */
  async #playOnce({ url }: Of<'background'>): Promise<EffectResult> {
    const { call } = this.#state.host
    const sounds = [readSound(url)]
    await this.#onCall(() => call.play({ sounds, volumeDb: this.#backgroundVolume }))
    return {}
  }

  /**
   * Does something on the call while the agent is held, after its last words. Returns undefined without
   * doing it if the conversation has ended meanwhile, or is about to.
   */
  async #onCall<T>(act: () => Promise<T>): Promise<T | undefined> {
    const state = this.#state
    const { leaving } = this.#deps
    const isSilent = await leaving.silence()
    if (state.isOver || leaving.isLeaving) return undefined
    // The rest of a long speech would follow the action.
    if (!isSilent) state.agent?.cut()
    state.hold()
    const running = act()
    this.#running = running
    try {
      return await running
    } finally {
      if (!leaving.isLeaving) state.unhold()
    }
  }

  async #transfer({ to, summarize }: Of<'transfer'>): Promise<EffectResult> {
    const { moves, leaving } = this.#deps
    const wants = summarize || this.#state.document.params.transferSummary
    const summary = wants ? await moves.summary(transferInstruction) : undefined
    if (this.#state.isOver) return { respond: false, isLast: true }
    await this.#state.host.leave(to, summary === undefined ? {} : { conversation_summary: summary })
    leaving.begin('leave')
    return { respond: false, isLast: true }
  }
}

/** Instruction for the summary that a transfer hands over. */
const transferInstruction = 'Summarize the conversation for the person who takes the call over.'
