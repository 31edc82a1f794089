import type { Call } from './call.ts'

/** An element that shows what the far side of a call films. */
export interface CallVideo {
  readonly element: HTMLVideoElement
  /** Removes the element; the end of the call does it too, at once where it is over. Idempotent. */
  unsubscribe(): void
}

/**
 * Makes a `<video>` for a call without `rootElement`, and puts it into `rootElement` where that is given; else placing it is the
 * application's. It is silent: the call plays its sound itself.
 */
export const buildVideoElement = async (options: {
  readonly call: Pick<Call, 'remoteStream' | 'on' | 'off' | 'state'>
  readonly rootElement?: HTMLElement
}): Promise<CallVideo> => {
  const { call, rootElement } = options
  const element = (rootElement?.ownerDocument ?? document).createElement('video')
  element.autoplay = true
  element.muted = true
  element.setAttribute('playsinline', '')
  element.srcObject = call.remoteStream
  const unsubscribe = () => {
    call.off('destroy', unsubscribe)
    element.srcObject = null
    element.remove()
  }
  call.on('destroy', unsubscribe)
  rootElement?.append(element)
  if (call.state === 'ended') unsubscribe()
  return { element, unsubscribe }
}
