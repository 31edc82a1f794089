import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { ApiTestSite, ours } from './api-test-site.ts'

/** Participant of a conversation; a guest has only a token. */
export interface Person {
  readonly id: string
  readonly token: string
  readonly addressId: string
}

/** Sender of a request. */
export type Asking = Pick<Person, 'token'>

/** Path of the conversations. */
export const base = '/api/fabric/conversations'

/** API test site with people who exchange messages. */
export class ChatTestSite {
  readonly api: ApiTestSite
  #people = 0

  constructor(api: ApiTestSite) {
    this.api = api
  }

  static async open(): Promise<ChatTestSite> {
    return new ChatTestSite(await ApiTestSite.open())
  }

  /** Creates a person with this name. */
  async person(display_name: string, project = ours): Promise<Person> {
    const reference = `person-${++this.#people}@example.test`
    const asked = await this.api.ask(
      'POST',
      '/api/fabric/subscribers/tokens',
      { reference, display_name },
      project,
    )
    const { subscriber_id: id, token } = asked.json()
    return { id, token, addressId: this.api.directory.subscriber(id)!.addressId }
  }

  /** Creates a room with the name `The room`, and returns the id of its address. */
  async room(): Promise<string> {
    const body = { name: `room-${randomUUID()}`, display_name: 'The room' }
    const { id } = (await this.api.ask('POST', '/api/fabric/resources/conference_rooms', body)).json()
    return this.api.directory.resources.find(ours.id, 'room', id)!.address.id
  }

  async guest(...allowed_addresses: string[]): Promise<Asking> {
    return (await this.api.ask('POST', '/api/fabric/guests/tokens', { allowed_addresses })).json()
  }

  async ask({ token }: Asking, url: string, payload?: object) {
    const method = payload ? 'POST' : 'GET'
    const reply = await this.api.askAs({ method, url, token, ...(payload && { payload }) })
    return { status: reply.statusCode, body: reply.json() }
  }

  send(who: Asking, conversation_id: string, text = 'Hello', more = {}) {
    return this.ask(who, '/api/fabric/messages', { conversation_id, text, ...more })
  }

  /** Same as {@link send}, but expects success and returns the body. */
  async sent(who: Asking, to: string, text?: string) {
    const { status, body } = await this.send(who, to, text)
    expect([status, body]).toEqual([201, expect.anything()])
    return body
  }

  join(who: Asking, body: object) {
    return this.ask(who, `${base}/join`, body)
  }

  /** Returns the texts of a conversation, newest first. */
  async textsOf(who: Asking, id: string): Promise<string[]> {
    const { status, body } = await this.ask(who, `${base}/${id}/messages`)
    expect(status).toBe(200)
    return body.data.map(({ text }: { text: string }) => text)
  }
}
