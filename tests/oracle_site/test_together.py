import threading

from oracle_site.together import Together


def test_whatever_waits_is_dealt_with_together_in_its_order_and_before_the_end():
    dealt_with: list[list[int]] = []
    together = Together(dealt_with.append, most=3)
    for number in range(1, 8):
        together.put(number)
    together.start()
    together.end()
    assert dealt_with == [[1, 2, 3], [4, 5, 6], [7]]


def test_who_comes_alone_waits_for_nobody():
    dealt_with = threading.Event()
    together = Together(lambda _: dealt_with.set(), most=64)
    together.start()
    together.put("this one")
    assert dealt_with.wait(10)
    together.end()


def test_with_nothing_to_do_it_ends_at_once():
    together = Together(list.clear, most=1)
    together.start()
    together.end()
