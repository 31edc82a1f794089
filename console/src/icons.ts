const shapes = {
  handset:
    'M1.6 15.6C7.2 8 16.8 8 22.4 15.6l-2 3.4a1.2 1.2 0 0 1-1.5.5l-3.7-1.5a1.2 1.2 0 0 1-.8-1.1' +
    'v-2.6a8.4 8.4 0 0 0-4.8 0v2.6a1.2 1.2 0 0 1-.8 1.1l-3.7 1.5a1.2 1.2 0 0 1-1.5-.5z',
  microphone:
    'M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM5.6 11h1.8a4.6 4.6 0 0 0 9.2 0h1.8' +
    'a6.4 6.4 0 0 1-5.5 6.3V21h-1.8v-3.7A6.4 6.4 0 0 1 5.6 11z',
  pause: 'M7 5h3.4v14H7zM13.6 5H17v14h-3.4z',
  camera:
    'M4.5 6.5h9A2 2 0 0 1 15.5 8.5v1.9l5.5-3v9.2l-5.5-3v1.9a2 2 0 0 1-2 2h-9a2 2 0 0 1-2-2v-7' +
    'a2 2 0 0 1 2-2z',
  screen:
    'M4 4.5h16a2 2 0 0 1 2 2v8.5a2 2 0 0 1-2 2h-6.2v1.7H16v1.8H8v-1.8h2.2V17H4a2 2 0 0 1-2-2V6.5' +
    'a2 2 0 0 1 2-2zm8 2.8-3.7 3.7h2.6v3.2h2.2V11h2.6z',
  keypad:
    'M5 4h3.4v3.4H5zM10.3 4h3.4v3.4h-3.4zM15.6 4H19v3.4h-3.4zM5 9.3h3.4v3.4H5zM10.3 9.3h3.4v3.4' +
    'h-3.4zM15.6 9.3H19v3.4h-3.4zM5 14.6h3.4V18H5zM10.3 14.6h3.4V18h-3.4zM15.6 14.6H19V18h-3.4z' +
    'M10.3 19.2h3.4V22h-3.4z',
  people:
    'M9 4.5a3.6 3.6 0 1 1 0 7.2 3.6 3.6 0 0 1 0-7.2zM2 19.5c0-3.6 3.1-6 7-6s7 2.4 7 6zM16.2 5.4' +
    'a3 3 0 1 1-.6 6 5.3 5.3 0 0 0 .6-6zM17.8 19.5H22c0-3-2.1-5.3-5.2-5.7a7.4 7.4 0 0 1 1 5.7z',
  clock: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zm-1 4v5.6l4.3 2.5 1-1.7-3.3-1.9V7z',
  chat: 'M4.5 4h15a2 2 0 0 1 2 2v9.5a2 2 0 0 1-2 2H10l-5 3.7v-3.7h-.5a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2z',
  gear:
    'M10.3 2.5h3.4l.5 2.6 1.6.7 2.2-1.5 2.4 2.4-1.5 2.2.7 1.6 2.6.5v3.4' +
    'l-2.6.5-.7 1.6 1.5 2.2-2.4 2.4-2.2-1.5-1.6.7-.5 2.6h-3.4l-.5-2.6-1.6-.7L6 21.1' +
    'l-2.4-2.4 1.5-2.2-.7-1.6-2.6-.5V11l2.6-.5.7-1.6-1.5-2.2L6 4.3l2.2 1.5 1.6-.7zM12 9' +
    'a3.7 3.7 0 1 0 0 7.4A3.7 3.7 0 0 0 12 9z',
  send: 'M3 4.2 21.5 12 3 19.8l2.4-6.7L14 12l-8.6-1.1z',
  back: 'M14.8 5.2 16.3 6.7 11 12l5.3 5.3-1.5 1.5L8 12z',
  swap: 'M7.5 4 3.5 8l4 4V9h9.5V7H7.5zM16.5 12v3H7v2h9.5v3l4-4z',
  close: 'm6.5 5 5.5 5.5L17.5 5 19 6.5 13.5 12l5.5 5.5-1.5 1.5-5.5-5.5L6.5 19 5 17.5l5.5-5.5L5 6.5z',
  erase:
    'M8.5 6H20a1.5 1.5 0 0 1 1.5 1.5v9A1.5 1.5 0 0 1 20 18H8.5L2.5 12zm2.3 2.4L9.6 9.6 12 12' +
    'l-2.4 2.4 1.2 1.2 2.4-2.4 2.4 2.4 1.2-1.2-2.4-2.4 2.4-2.4-1.2-1.2-2.4 2.4z',
} as const

/** Icons of the page; `pickup` is the lifted handset. */
export type Icon = keyof typeof shapes | 'pickup'

const namespace = 'http://www.w3.org/2000/svg'

/**
 * Draws an icon in the colour of the text. It is hidden from assistive technology: its button has a label.
 */
export const icon = (name: Icon): SVGSVGElement => {
  const picture = document.createElementNS(namespace, 'svg')
  picture.setAttribute('viewBox', '0 0 24 24')
  picture.setAttribute('aria-hidden', 'true')
  picture.setAttribute('class', name === 'pickup' ? 'icon lifted' : 'icon')
  const path = document.createElementNS(namespace, 'path')
  path.setAttribute('d', shapes[name === 'pickup' ? 'handset' : name])
  picture.append(path)
  return picture
}
