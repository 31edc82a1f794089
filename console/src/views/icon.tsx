import sprite from '../icons.svg'

/** Icon of the page, a symbol of `icons.svg`; `pickup` is the lifted handset. */
export type IconName =
  | 'pickup'
  | 'handset'
  | 'microphone'
  | 'pause'
  | 'camera'
  | 'screen'
  | 'keypad'
  | 'people'
  | 'clock'
  | 'chat'
  | 'gear'
  | 'send'
  | 'back'
  | 'swap'
  | 'close'
  | 'erase'
  | 'exit'
  | 'eye'
  | 'copy'
  | 'expand'
  | 'window'
  | 'fit'
  | 'outgoing'
  | 'incoming'
  | 'missed'
  | 'transfer'
  | 'add'
  | 'alert'
  | 'keyboard'
  | 'microphoneOff'
  | 'hand'
  | 'lock'
  | 'cameraOff'

/** Draws an icon in the colour of the text, hidden from assistive technology: its button has a label. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class={name === 'pickup' ? 'icon lifted' : 'icon'} aria-hidden="true">
    <use href={`${sprite}#${name === 'pickup' ? 'handset' : name}`} />
  </svg>
)
