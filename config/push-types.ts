/** Notifications to subscribers' devices. Without any of the ways to them there are none. */
export interface PushConfig {
  /** Whether what is in a notification can be read by those who carry it; default `aes_256_gcm`. */
  readonly encryption: 'aes_256_gcm' | 'none'
  /** Devices are told although a page of the subscriber is connected; default false. */
  readonly whenOnline: boolean
  readonly webPush?: {
    /** `mailto:` or `https:` URI by which push services reach the operator. */
    readonly subject: string
    /** Both base64url, or neither: the pair is then made of the gateway's secret. */
    readonly publicKey?: string
    readonly privateKey?: string
  }
  readonly apns?: {
    /** The `.p8` file. */
    readonly keyFile: string
    readonly keyId: string
    readonly teamId: string
    /** Bundle id of the application. */
    readonly topic: string
    /** Default Apple's for production. */
    readonly host: string
  }
  readonly fcm?: {
    readonly serviceAccountFile: string
    /** Default Google's. */
    readonly host: string
  }
  readonly webhook?: { readonly url: string }
}
