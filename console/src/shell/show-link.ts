// On a narrow page, a navigation may be wider than its place: it is scrolled to the link of the
// present page. Links count their offset from a navigation with `position: relative`.

export const showLink = (link: HTMLAnchorElement | null): void => {
  const list = link?.parentElement;
  if (link && list && list.scrollWidth > list.clientWidth) list.scrollLeft = link.offsetLeft - list.clientWidth / 3;
};
