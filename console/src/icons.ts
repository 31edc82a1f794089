const shapes = {
  handset:
    'M1.6 15.6C7.2 8 16.8 8 22.4 15.6l-2 3.4a1.2 1.2 0 0 1-1.5.5l-3.7-1.5a1.2 1.2 0 0 1-.8-1.1v-2.6a8.4 8.4 0 0 0-4.8 0v2.6a1.2 1.2 0 0 1-.8 1.1l-3.7 1.5a1.2 1.2 0 0 1-1.5-.5z',
  microphone:
    'M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM5.6 11h1.8a4.6 4.6 0 0 0 9.2 0h1.8a6.4 6.4 0 0 1-5.5 6.3V21h-1.8v-3.7A6.4 6.4 0 0 1 5.6 11z',
  pause: 'M7 5h3.4v14H7zM13.6 5H17v14h-3.4z',
} as const

/** The pictures of the page; `pickup` is the handset lifted. */
export type Icon = keyof typeof shapes | 'pickup'

const namespace = 'http://www.w3.org/2000/svg'

/** Draws an icon in the colour of the text. It says nothing to assistive technology: its button has a label. */
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
