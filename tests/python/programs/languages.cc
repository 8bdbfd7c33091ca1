// Names of C++, and a stop().
namespace ns {
struct T { struct In { short n; } in; long n; };
template <class K, int N> struct V { K k[N]; long n; };
int f(int x) { return x; }
int f(double x) { return static_cast<int>(x); }
struct C { int m(int x) { return x; } };
int counter = 3;
}  // namespace ns

ns::T t;
ns::V<int, 3> v;
ns::V<ns::T *, 2> w;

static void stop() { __builtin_trap(); }
extern "C" void fortran_();

int main() {
  fortran_();
  ns::T::In in = t.in;
  ns::counter = ns::f(1) + ns::f(2.0) + ns::C().m(in.n);
  stop();
}
