/** Messages that a client received, for tests: the test waits for those that it expects. */
export class Messages<Message> {
  #unread: Message[] = []
  #waiting: (() => void)[] = []

  add(message: Message): void {
    this.#unread.push(message)
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Resolves with the next message of a condition that was not read. Messages before it stay unread. */
  async next(isWanted: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const at = this.#unread.findIndex(isWanted)
      if (at !== -1) return this.#unread.splice(at, 1)[0] as Message
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }
}
