/** Settings of a phone of any program. */
export interface DeskPhoneOptions {
  /** User part of its address of record. */
  readonly user: string
  readonly transport?: 'udp' | 'tcp' | 'tls'
  /** SDES SRTP: offered, or demanded. */
  readonly srtp?: 'offered' | 'demanded'
  /** Answers calls by itself; default true. */
  readonly answers?: boolean
  /** Tone that it sends, in Hz. */
  readonly tone: number
}

/** A phone as the scenarios use it. */
export interface DeskPhone {
  /** URI for calls without a registrar. */
  readonly uri: string
  dial(uri: string): void
  hangUp(): void
  /** Holds, or goes on. */
  hold(held: boolean): void
  /** Waits until a call of it is answered, by either side. */
  connected(): Promise<void>
  /** Waits until that call is over. */
  ended(): Promise<void>
  /** Waits until the tone of this frequency is what it has heard last. */
  hears(frequency: number): Promise<void>
}
