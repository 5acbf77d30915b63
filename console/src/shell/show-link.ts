// On a phone, a navigation may be wider than the page: it is scrolled to the link of the present
// page.

export const showLink = (link: HTMLAnchorElement | null): void => {
  const list = link?.parentElement;
  if (link && list && list.scrollWidth > list.clientWidth) list.scrollLeft = link.offsetLeft - list.clientWidth / 3;
};
