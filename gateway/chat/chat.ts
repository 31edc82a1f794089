import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import { FixedWindowLimiter } from '../core/rates.ts'
import type { Resources } from '../directory/model/ports.ts'
import type { Listed, ListPage } from '../directory/model/resource-types.ts'
import type { News } from '../directory/store/engine.ts'
import type {
  ConversationRow,
  ConversationRows,
  MemberMessage,
  Membership,
  MessageQuery,
  MessageRow,
} from '../directory/tables/conversations.ts'
import { messageBody } from './chat-bodies.ts'
import type { ChatParticipant } from './chat-participant.ts'
import { type ConversationOpening, maxRoomMembers, readOpening } from './conversation-opening.ts'

/** Collaborators of {@link Chat}. */
export interface ChatDeps {
  readonly rows: ConversationRows
  readonly resources: Pick<Resources, 'findByAddressId'>
  /** Connected browsers of subscribers and guests, by id. */
  readonly browsers: {
    emit(holderId: string, event: 'conversation.message', params: object): void
  }
  readonly clock: Pick<Clock, 'now'>
  readonly log: Pick<Log, 'error'>
}

/** Content of a message. */
export interface WrittenMessage {
  readonly text: string
  readonly metadata: object
  readonly details: object
}

/** Maximum number of messages per minute of one author, and in one conversation. */
const maxPerWriter = 60
const maxPerConversation = 300
const minuteMs = 60_000

/**
 * Conversations between addresses: checks permission to join, write and read, and delivers messages to the
 * browsers of all members.
 */
export class Chat {
  readonly #deps: ChatDeps
  readonly #writers: FixedWindowLimiter
  readonly #conversations: FixedWindowLimiter

  constructor(deps: ChatDeps) {
    this.#deps = deps
    this.#writers = new FixedWindowLimiter(deps.clock, { attempts: maxPerWriter, windowMs: minuteMs })
    this.#conversations = new FixedWindowLimiter(deps.clock, {
      attempts: maxPerConversation,
      windowMs: minuteMs,
    })
  }

  /** Number of authors and conversations whose messages are being counted for the rate limits. */
  get counted(): number {
    return this.#writers.size + this.#conversations.size
  }

  conversations({ id }: ChatParticipant, page: ListPage): Promise<Listed<Membership>> {
    return this.#deps.rows.list(id, page)
  }

  /**
   * Finds a conversation by its id, or by the address of the other side. Throws `unknown_resource` unless the
   * participant is a member.
   */
  async conversation(participant: ChatParticipant, id: string): Promise<Membership> {
    const found = await this.#find(participant, id)
    if (!found) throw new TrunklineError('unknown_resource')
    return found
  }

  /** Returns the messages of all conversations of a participant, the newest first. */
  messages({ id }: ChatParticipant, query: MessageQuery): Promise<MemberMessage[]> {
    return this.#deps.rows.allMessages(id, query)
  }

  /**
   * Returns the messages of one conversation, newest first; `id` as for {@link conversation}. Returns an
   * empty list for a permitted address without messages, and for a room that the participant has not joined.
   * Throws `unknown_resource` for anything else.
   */
  async messagesOf(participant: ChatParticipant, id: string, query: MessageQuery): Promise<MemberMessage[]> {
    const conversation = await this.#find(participant, id)
    if (conversation) {
      const rows = await this.#deps.rows.messages(conversation, query)
      return rows.map((message) => ({ message, conversation }))
    }
    if (!this.#opening(participant, id)) throw new TrunklineError('unknown_resource')
    return []
  }

  /**
   * Adds a participant to the conversation with these addresses; `attribute` names their field in errors.
   * Throws as {@link readOpening}, and `over_quota` and `too_many_requests`.
   */
  async join(
    participant: ChatParticipant,
    addressIds: readonly string[],
    attribute: string,
  ): Promise<Membership> {
    this.#count(this.#writers, participant.id)
    const { resources, clock } = this.#deps
    return this.#open(
      participant,
      readOpening(participant, addressIds, attribute, { resources, now: clock.now() }),
    )
  }

  /**
   * Writes to a conversation or an address; `to` as for {@link conversation}. `attribute` names its field in
   * errors. Resolves when the message is stored. Throws as {@link join} does.
   */
  async send(
    participant: ChatParticipant,
    to: string,
    attribute: string,
    written: WrittenMessage,
  ): Promise<MemberMessage> {
    this.#count(this.#writers, participant.id)
    const { rows, clock, resources } = this.#deps
    const now = clock.now()
    const conversation =
      (await this.#find(participant, to)) ??
      (await this.#open(participant, readOpening(participant, [to], attribute, { resources, now })))
    this.#count(this.#conversations, conversation.id)
    const { text, metadata, details } = written
    const message = await rows.add(
      {
        id: randomUUID(),
        conversation_id: conversation.id,
        text,
        author_id: participant.id,
        author_address_id: participant.addressId ?? null,
        metadata_json: JSON.stringify(metadata),
        details_json: JSON.stringify(details),
      },
      now,
    )
    if (!message) throw new TrunklineError('unknown_resource')
    await this.#deliver(message, conversation)
    return { message, conversation }
  }

  /** Delivers a message that another gateway has stored to the browsers connected to this gateway. */
  async deliverNews(news: News): Promise<void> {
    if (news === 'anything' || news.kind !== 'message') return
    try {
      const found = await this.#deps.rows.message(news.id)
      if (found) await this.#deliver(found.message, found.conversation)
    } catch (error) {
      this.#deps.log.error(
        { event: 'chat.message-unreadable', err: error, message: news.id },
        'message not read from the store',
      )
    }
  }

  /** Delivers a message to connected members. Other members find the message in the store. */
  async #deliver(message: MessageRow, conversation: ConversationRow): Promise<void> {
    const { rows, resources, browsers, log } = this.#deps
    try {
      for (const { holder_id, address_id, reads_from } of await rows.members(conversation.id)) {
        if (message.created_at < reads_from) continue
        const viewer = address_id === null ? {} : { addressId: address_id }
        browsers.emit(
          holder_id,
          'conversation.message',
          messageBody(message, conversation, viewer, resources),
        )
      }
    } catch (error) {
      log.error(
        { event: 'chat.message-not-delivered', err: error, message: message.id },
        'message not delivered',
      )
    }
  }

  async #find(participant: ChatParticipant, id: string): Promise<Membership | undefined> {
    const { rows } = this.#deps
    const found = await rows.find(participant.id, id)
    const key = found ? undefined : this.#opening(participant, id)?.conversation.key
    return key === undefined ? found : rows.findByKey(participant.id, participant.projectId, key)
  }

  /** Returns undefined unless the id is an address that the participant may write to. */
  #opening(participant: ChatParticipant, id: string): ConversationOpening | undefined {
    const { resources, clock } = this.#deps
    try {
      return readOpening(participant, [id], 'id', { resources, now: clock.now() })
    } catch (error) {
      if (error instanceof TrunklineError) return undefined
      throw error
    }
  }

  async #open(
    participant: ChatParticipant,
    { conversation, members }: ConversationOpening,
  ): Promise<Membership> {
    const { rows, clock } = this.#deps
    const id = await rows.ensure(conversation, members, maxRoomMembers, clock.now())
    if (id === undefined)
      throw new TrunklineError('over_quota', `A room has at most ${maxRoomMembers} members.`)
    const joined = await rows.find(participant.id, id)
    if (!joined) throw new TrunklineError('unknown_resource')
    return joined
  }

  #count(attempts: FixedWindowLimiter, key: string): void {
    if (attempts.take(key) > 0) throw new TrunklineError('too_many_requests')
  }
}
