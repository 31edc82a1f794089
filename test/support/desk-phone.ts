/** How a phone is set up, whichever program it is. */
export interface DeskPhoneOptions {
  /** User part of its address of record. */
  readonly user: string
  readonly transport?: 'udp' | 'tcp' | 'tls'
  /** SDES SRTP: offered, or demanded. */
  readonly srtp?: 'offered' | 'demanded'
  /** Answers calls by itself; default true. */
  readonly answers?: boolean
  /** What it says all the time, in Hz. */
  readonly tone: number
}

/** A phone as the scenarios use it. */
export interface DeskPhone {
  /** Where it can be called without a registrar. */
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
