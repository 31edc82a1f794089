import { buildVideoElement, type Call, type CallVideo } from '@trunkline/client'
import { element, show } from '../dom.ts'

/** Video of a call: the video of the far side, with the user's camera in a corner. */
export class Picture {
  readonly element: HTMLElement
  readonly #own: HTMLVideoElement
  #call: Call | undefined
  #far: CallVideo | undefined

  constructor() {
    this.#own = element('video', {
      class: 'own',
      autoplay: true,
      muted: true,
      playsinline: true,
      'aria-label': 'Your camera',
      'data-testid': 'own-video',
    })
    // The attribute alone mutes only elements of the parser.
    this.#own.muted = true
    this.element = element('div', { class: 'picture', 'data-testid': 'picture' }, this.#own)
  }

  /** Shows the video of a call; undefined for none. Returns true if it has video. */
  follow(call: Call | undefined): boolean {
    if (call !== this.#call) this.#change(call)
    const { local = false, remote = false } = call?.active ? call.video : {}
    const track = local ? call?.localVideoTrack : undefined
    const displayed = this.#own.srcObject as MediaStream | null
    if (displayed?.getVideoTracks()[0] !== (track ?? undefined))
      this.#own.srcObject = track ? new MediaStream([track]) : null
    show(this.#own, local)
    if (this.#far) show(this.#far.element, remote)
    this.element.classList.toggle('own-only', local && !remote)
    show(this.element, local || remote)
    return local || remote
  }

  #change(call: Call | undefined): void {
    this.#far?.unsubscribe()
    this.#far = undefined
    this.#call = call
    if (!call) return
    void buildVideoElement({ call, rootElement: this.element }).then((far) => {
      if (this.#call !== call) return far.unsubscribe()
      this.#far = far
      far.element.className = 'far'
      far.element.setAttribute('aria-label', 'Video of the other party')
      far.element.dataset.testid = 'far-video'
      this.follow(call)
    })
  }
}
