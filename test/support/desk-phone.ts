/** Settings of a softphone, common to all programs. */
export interface DeskPhoneOptions {
  /** User part of the address of record. */
  readonly user: string
  readonly transport?: 'udp' | 'tcp' | 'tls'
  /** Whether SDES SRTP is offered or required; default neither. */
  readonly srtp?: 'offered' | 'demanded'
  /** Whether the phone answers calls automatically; default true. */
  readonly answers?: boolean
  /** Frequency of the sent tone, in Hz. */
  readonly tone: number
}

/** Softphone in a scenario. */
export interface DeskPhone {
  /** URI for calls without a registrar. */
  readonly uri: string
  dial(uri: string): void
  hangUp(): void
  /** Holds or resumes the call. Resolves when the phone accepts the opposite. */
  hold(held: boolean): Promise<void>
  /** Waits until a call of the phone is answered, by either side. */
  connected(): Promise<void>
  /** Waits until the call has ended. */
  ended(): Promise<void>
  /** Waits until the latest received audio is a tone of this frequency. */
  hears(frequency: number): Promise<void>
}
